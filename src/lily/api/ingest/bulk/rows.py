"""Splits a streamed body into rows. A row is its bytes, or the problem that made it unreadable."""

from collections.abc import Iterator
from typing import Protocol

from lily.model.errors import Problem

Piece = bytes | Problem


class Splitter(Protocol):
    """Yields pieces in the order of the rows; an empty piece is a blank line, which has a number but no content."""

    def feed(self, chunk: bytes) -> Iterator[Piece]: ...

    def finish(self) -> Iterator[Piece]: ...


class Row:
    """The row being read. A row that exceeds the limit is dropped at once, and skipped up to its end."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._length = 0

    def __bool__(self) -> bool:
        return self._length > 0

    def keep(self, part: bytes) -> None:
        self._length += len(part)
        if self._length > self._limit:
            self._parts = []
        elif part:
            self._parts.append(part)

    def end(self) -> Piece:
        text, length = b"".join(self._parts), self._length
        self._parts, self._length = [], 0
        if length > self._limit:
            return Problem("TOO_LARGE", f"a row must not exceed {self._limit} bytes", "row")
        return text.strip()


class Lines:
    """Newline-delimited JSON: a malformed row ends at the next newline."""

    def __init__(self, limit: int) -> None:
        self._row = Row(limit)

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._row.keep(part)
            yield self._row.end()
        self._row.keep(rest)

    def finish(self) -> Iterator[Piece]:
        if self._row:
            yield self._row.end()
