"""Newline-delimited JSON: one ingest body per line."""

import re
from collections.abc import Iterator

from lily.formats.row import RowBuffer
from lily.plugins.formats import BlankRows, Row

_BLANK = b"\n" * 4  # fewer are not worth a search
_BLANKS = re.compile(rb"\n{4,}")


class Lines:
    """Every newline ends a row, whether or not the row is valid."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._row = RowBuffer(limit)

    def feed(self, chunk: bytes) -> Iterator[Row]:
        return self._between_blanks(chunk) if _BLANK in chunk else self._rows(chunk)

    def finish(self) -> Iterator[Row]:
        if self._row:
            yield self._row.end()

    def close(self) -> None:
        """There is nothing to release."""

    def _between_blanks(self, chunk: bytes) -> Iterator[Row]:
        start = 0
        for blanks in _BLANKS.finditer(chunk):
            yield from self._rows(chunk[start : blanks.start() + 1])
            yield BlankRows(blanks.end() - blanks.start() - 1)
            start = blanks.end()
        yield from self._rows(chunk[start:])

    def _rows(self, chunk: bytes) -> Iterator[Row]:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if self._row or len(part) > self._limit:
                self._row.keep(part)
                yield self._row.end()
            else:  # nearly every row is within one chunk
                yield part.strip()
        self._row.keep(rest)


class Ndjson:
    media_types = ("application/x-ndjson", "application/ndjson", "application/jsonl")
    suffixes = (".ndjson", ".jsonl")

    def splitter(self, limit: int) -> Lines:
        return Lines(limit)
