"""Splits a JSON array into its elements without parsing them.

Only quotes and brackets are looked at, to find where an element ends; each element is then parsed like a line of
newline-delimited JSON. So both formats accept exactly the same, an element is dropped as soon as it is too long, and a
malformed one does not affect the others.
"""

import re
from collections.abc import Generator, Iterator
from enum import Enum, auto

from lily.formats.row import RowBuffer
from lily.model.errors import Problem
from lily.plugins.formats import Row

_BETWEEN = re.compile(rb'["\[\]{},]')
_QUOTED = re.compile(rb'["\\]')
_SPACE = b" \t\r\n"


class _Stage(Enum):
    BEFORE = auto()
    INSIDE = auto()
    AFTER = auto()
    BROKEN = auto()


class Elements:
    def __init__(self, limit: int) -> None:
        self._row = RowBuffer(limit)
        self._stage = _Stage.BEFORE
        self._elements = 0
        self._depth = 0  # of brackets within the element being read
        self._quoted = False
        self._escaped = False

    def feed(self, chunk: bytes) -> Iterator[Row]:
        if self._stage is _Stage.BEFORE:
            chunk = chunk.lstrip(_SPACE)
            if chunk:
                self._stage = _Stage.INSIDE if chunk.startswith(b"[") else _Stage.BROKEN
            if self._stage is _Stage.BROKEN:
                yield Problem("MALFORMED_JSON", "the body is not a JSON array", "body")
            chunk = chunk[1:]
        if self._stage is _Stage.INSIDE:
            chunk = yield from self._read(chunk)
        if self._stage is _Stage.AFTER and chunk.strip(_SPACE):
            self._stage = _Stage.BROKEN
            yield Problem("MALFORMED_JSON", "unexpected data after the end of the array", "body")

    def finish(self) -> Iterator[Row]:
        if self._stage in {_Stage.BEFORE, _Stage.INSIDE}:
            yield Problem("MALFORMED_JSON", "the body ends within the array, in this row", "body")

    def close(self) -> None:
        """There is nothing to release."""

    def _read(self, chunk: bytes) -> Generator[Row, None, bytes]:
        """The elements that end in this chunk; returns what follows the array."""
        start = 0
        for end in self._ends(chunk):
            self._row.keep(chunk[start:end])
            start = end + 1
            row, last = self._row.end(), chunk[end : end + 1] == b"]"
            if last:
                self._stage = _Stage.AFTER
            if row or self._elements or not last:
                self._elements += 1
                yield row or Problem("MALFORMED_JSON", "an element is missing here", "row")
            if last:
                return chunk[start:]
        self._row.keep(chunk[start:])
        return b""

    def _ends(self, chunk: bytes) -> Iterator[int]:
        """Where elements end: at commas and the closing bracket, outside of strings and of inner brackets."""
        position = int(self._escaped)  # a backslash at the end of the last chunk escapes the first byte of this one
        self._escaped = self._escaped and not chunk
        while found := (_QUOTED if self._quoted else _BETWEEN).search(chunk, position):
            mark, position = found[0], found.end()
            if mark == b"\\":
                self._escaped = position == len(chunk)
                position += 1
            elif mark == b'"':
                self._quoted = not self._quoted
            elif mark in b"[{":
                self._depth += 1
            elif self._depth == 0 and mark != b"}":
                yield found.start()
            elif mark != b",":
                self._depth = max(self._depth - 1, 0)


class JsonArray:
    media_types = ("application/json",)
    suffixes = (".json",)

    def splitter(self, limit: int) -> Elements:
        return Elements(limit)
