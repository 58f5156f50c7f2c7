"""Splits a JSON array into its elements without parsing them.

Only quotes and brackets are looked at, to find where an element ends; each element is then parsed by the parser that
every other row goes through. So both bulk formats accept exactly the same, an element is dropped as soon as it is too
long, and a broken one does not take the others along.
"""

import re
from collections.abc import Iterator

from lily.api.bulk.rows import Piece, Row
from lily.model.errors import Problem

_BETWEEN = re.compile(rb'["\[\]{},]')
_QUOTED = re.compile(rb'["\\]')
_SPACE = b" \t\r\n"


class Array:
    def __init__(self, limit: int) -> None:
        self._row = Row(limit)
        self._depth = 0  # of brackets; 1 is inside the array, between elements
        self._quoted = False
        self._escaped = False
        self._elements = 0
        self._broken = False

    @property
    def ended(self) -> bool:
        return self._depth == 0 and self._elements > 0

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        start = 0
        if self._depth == 0 and not self._broken:
            start = yield from self._open(chunk)
        position = start
        while not self._broken and self._depth > 0 and position < len(chunk):
            ...
