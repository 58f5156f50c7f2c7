"""CSV: a header of attribute names, one asset per record, `|` between the items of a list (RFC 4180, UTF-8)."""

import csv
from collections.abc import Iterator

from lily.formats.row import RowBuffer
from lily.formats.table import Header, is_blank
from lily.model.errors import Problem, Refused
from lily.plugins.formats import Row

_BOM = b"\xef\xbb\xbf"
_QUOTE = ord('"')
_OTHER_SEPARATORS = (";", "\t", "|")
_BEFORE_CELL = frozenset({b"", b",", b"\n"})


class Records:
    """Reads record by record. After an invalid header, nothing else can be read."""

    def __init__(self, limit: int) -> None:
        self._record = RowBuffer(limit)
        self._ends = RecordEnds()
        self._begun: bytes | None = b""  # the first bytes, until it is clear whether they are a byte order mark
        self._header: Header | None = None
        self._rows = 0
        self._broken = False

    def feed(self, chunk: bytes) -> Iterator[Row]:
        if self._begun is not None:
            chunk = self._begun + chunk
            self._begun = chunk if len(chunk) < len(_BOM) and _BOM.startswith(chunk) else None
            if self._begun is not None:
                return
            chunk = chunk.removeprefix(_BOM)
        start = 0
        for end in self._ends.within(chunk):
            self._record.keep(chunk[start:end])
            start = end + 1
            yield from self._row(self._record.end_as_is())
        self._record.keep(chunk[start:])

    def finish(self) -> Iterator[Row]:
        if self._ends.inside_quotes:
            yield from self._failed(Problem("MALFORMED_CSV", "the body ends inside a quoted cell", "row"))
        elif self._record:
            yield from self._row(self._record.end_as_is())
        if self._header is None:
            yield from self._failed(Problem("MALFORMED_CSV", "the header is missing", "body"))

    def close(self) -> None:
        """There is nothing to release."""

    def _row(self, record: bytes | Problem) -> Iterator[Row]:
        if self._broken:
            return
        self._rows += self._header is not None
        try:
            cells = _cells(record, f"row {self._rows}" if self._rows else "the header")
            if self._header is not None:
                yield b"" if is_blank(cells) else self._header.body(_complete(cells, self._header))
            elif not is_blank(cells):
                self._header = _header(cells)
        except Refused as error:
            yield from self._failed(error.problems[0]) if self._header is None else error.problems[:1]

    def _failed(self, problem: Problem) -> Iterator[Row]:
        """Without a header, no record can be read."""
        if not self._broken:
            self._broken = self._header is None
            yield problem


class RecordEnds:
    """Finds the newlines that end records: those outside of quoted cells. A quote opens a cell only at its start."""

    def __init__(self) -> None:
        self.inside_quotes = False
        self._last = b""  # byte of the chunk before
        self._undecided = False  # whether a quote that ended the chunk before closes its cell or is doubled

    def within(self, chunk: bytes) -> Iterator[int]:
        position = self._decided(chunk)
        while position < len(chunk):
            quote = chunk.find(b'"', position)
            if not self.inside_quotes:
                yield from _newlines(chunk, position, quote)
            if quote < 0:
                break
            position = self._after_quote(chunk, quote)
        self._last = chunk[-1:] or self._last

    def _decided(self, chunk: bytes) -> int:
        if not (self._undecided and chunk):
            return 0
        self._undecided = False
        self.inside_quotes = chunk[0] == _QUOTE
        return int(self.inside_quotes)

    def _after_quote(self, chunk: bytes, quote: int) -> int:
        if not self.inside_quotes:
            self.inside_quotes = (chunk[quote - 1 : quote] if quote else self._last) in _BEFORE_CELL
            return quote + 1
        if quote + 1 == len(chunk):
            self._undecided = True
            return quote + 1
        self.inside_quotes = chunk[quote + 1] == _QUOTE
        return quote + 1 + int(self.inside_quotes)


class Csv:
    media_types = ("text/csv",)
    suffixes = (".csv",)

    def splitter(self, limit: int) -> Records:
        return Records(limit)


def _newlines(chunk: bytes, start: int, quote: int) -> Iterator[int]:
    end = quote if quote >= 0 else len(chunk)
    while (newline := chunk.find(b"\n", start, end)) >= 0:
        yield newline
        start = newline + 1


def _cells(record: bytes | Problem, where: str) -> list[str]:
    """Raises Refused for a record that is too long, is not UTF-8 or not CSV."""
    if isinstance(record, Problem):
        raise Refused(record)
    try:
        return next(csv.reader((record.decode(),)), [])
    except UnicodeDecodeError as error:
        description = f"{where} is not UTF-8; save the file as UTF-8"
        raise Refused(Problem("MALFORMED_CSV", description, "row")) from error
    except csv.Error as error:
        raise Refused(Problem("MALFORMED_CSV", f"the record cannot be read: {error}", "row")) from error


def _header(cells: list[str]) -> Header:
    try:
        return Header(cells)
    except Refused as error:
        if len(cells) > 1 or not any(separator in cells[0] for separator in _OTHER_SEPARATORS):
            raise
        problem = error.problems[0]
        description = f"{problem.description}; cells are separated by commas"
        raise Refused(Problem(problem.code, description, problem.entity)) from error


def _complete(cells: list[str], header: Header) -> list[str]:
    """A record with too few cells has probably lost a comma, and its values are in the wrong columns."""
    if len(cells) < len(header):
        description = f"the record has {len(cells)} cells, the header {len(header)}; cells are separated by commas"
        raise Refused(Problem("MALFORMED_CSV", description, "row"))
    return cells
