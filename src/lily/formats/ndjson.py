"""Newline-delimited JSON: one ingest body per line."""

from collections.abc import Iterator

from lily.formats.row import RowBuffer
from lily.plugins.formats import Row


class Lines:
    """Every newline ends a row, whether or not the row is valid."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._row = RowBuffer(limit)

    def feed(self, chunk: bytes) -> Iterator[Row]:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if self._row or len(part) > self._limit:
                self._row.keep(part)
                yield self._row.end()
            else:  # nearly every row is within one chunk
                yield part.strip()
        self._row.keep(rest)

    def finish(self) -> Iterator[Row]:
        if self._row:
            yield self._row.end()

    def close(self) -> None:
        """There is nothing to release."""


class Ndjson:
    media_types = ("application/x-ndjson", "application/ndjson", "application/jsonl")
    suffixes = (".ndjson", ".jsonl")

    def splitter(self, limit: int) -> Lines:
        return Lines(limit)
