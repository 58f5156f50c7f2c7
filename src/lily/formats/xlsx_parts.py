"""The parts of a workbook, each read within limits.

openpyxl builds trees of what it reads, and the trees of a small file can take gigabytes. So every piece of a part goes
through a parser that only counts, before openpyxl gets it.
"""

import io
import zipfile
from dataclasses import dataclass
from typing import IO, Any, NoReturn
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile, ZipInfo

from lily.model.errors import Problem, Refused

MAX_RATIO = 20  # decompressed to compressed; tables of metadata are below 15
ALLOWANCE = 64 << 20  # decompressed, for a workbook of any size
# openpyxl takes about 10 µs per element. A table of metadata has 0.8 elements per compressed byte.
MAX_ELEMENTS_PER_BYTE = 2
ELEMENTS_ALLOWANCE = 200_000
MAX_DIRECTORY_BYTES = 1 << 20  # of the archive: about 10,000 parts, each of which is an object in memory
MAX_DEPTH = 32
MAX_TOKEN_BYTES = 4 << 20  # a parser holds a token until it ends; a cell has 32,767 characters
MAX_ROWS = 1_048_576  # of a sheet, in XLSX itself
_DIRECTORY_SIZE = 5  # its index in what `_EndRecData` returns


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one part. A row of a sheet is released when it ends, everything else stays in memory."""

    elements: int  # outside of rows
    row_elements: int = 0
    row_text: int = 0
    rows: int = 0


SMALL = Limits(elements=30_000)  # styles, relations, the list of sheets; a style takes 0.6 kB and 80 µs
STRINGS = Limits(elements=1_500_000)  # half as many strings, about 150 MB
# 16,384 columns, in XLSX itself, with a value in each; the text of a row is checked exactly when it is read.
SHEET = Limits(elements=100_000, row_elements=3 * 16_384, row_text=8 << 20, rows=MAX_ROWS)


class Parts(ZipFile):
    """The archive. Raises Refused as soon as a part, or all that was read of the archive, exceeds its limits."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        _refuse_large_directory(file)
        super().__init__(file)
        self.limits = SMALL
        self._bytes_left = ALLOWANCE + MAX_RATIO * length
        self._elements_left = ELEMENTS_ALLOWANCE + MAX_ELEMENTS_PER_BYTE * length
        if sum(part.file_size for part in self.infolist()) > self._bytes_left:
            self._refuse_bytes()

    def open(self, name: str | ZipInfo, mode: Any = "r", *_: Any, **__: Any) -> IO[bytes]:
        part = super().open(name, mode)
        return io.BufferedReader(_Guarded(self, part, self.limits))

    def spend(self, size: int, elements: int) -> None:
        """A part that is read twice counts twice."""
        self._bytes_left -= size
        self._elements_left -= elements
        if self._bytes_left < 0:
            self._refuse_bytes()
        if self._elements_left < 0:
            allowed = f"{ELEMENTS_ALLOWANCE} and {MAX_ELEMENTS_PER_BYTE} per byte of the workbook"
            _refuse(f"the workbook has more cells and other elements than {allowed}")

    def _refuse_bytes(self) -> NoReturn:
        allowed = f"{ALLOWANCE >> 20} MiB and {MAX_RATIO} times its size"
        _refuse(f"the workbook decompresses to more than {allowed}")


class _Guarded(io.RawIOBase):
    def __init__(self, parts: Parts, part: IO[bytes], limits: Limits) -> None:
        self._parts = parts
        self._part = part
        self._counter = Counter(limits)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._part.read(len(buffer))
        self._parts.spend(len(piece), self._counter.count(piece))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._counter.close()
        self._part.close()
        super().close()


class Counter:
    """Counts the elements of one part, as it is read."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._ended = False
        self._depth = self._all = self._elements = self._rows = self._pending = 0
        self._row_depth = self._row_elements = self._row_text = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype

    def count(self, piece: bytes) -> int:
        """Returns how many elements begin in the piece. An empty piece is the end."""
        if self._ended:
            return 0
        before = self._all
        self._pending += len(piece)
        self._ended = not piece
        try:
            self._parser.Parse(piece, self._ended)
        except expat.ExpatError as error:
            raise Refused(Problem("MALFORMED_XLSX", f"a part is not well-formed: {error}", "body")) from error
        if self._pending > MAX_TOKEN_BYTES:
            _refuse(f"a single element or text has more than {MAX_TOKEN_BYTES} bytes")
        return self._all - before

    def close(self) -> None:
        """Breaks the reference cycle of parser and handlers."""
        self._parser.StartElementHandler = self._parser.EndElementHandler = None
        self._parser.CharacterDataHandler = self._parser.StartDoctypeDeclHandler = None

    def _start(self, name: str, _: dict[str, str]) -> None:
        self._pending = 0
        self._all += 1
        self._depth += 1
        if self._depth > MAX_DEPTH:
            _refuse(f"its elements are nested deeper than {MAX_DEPTH} levels")
        if self._row_depth:
            self._row_elements += 1
            if self._row_elements > self._limits.row_elements:
                _refuse(f"row {self._rows} has more than {self._limits.row_elements} cells and values")
        elif self._limits.rows and name.rpartition(" ")[2] == "row":
            self._start_row()
        else:
            self._elements += 1
            if self._elements > self._limits.elements:
                _refuse(f"a part has more than {self._limits.elements} elements")

    def _start_row(self) -> None:
        self._rows += 1
        self._row_depth, self._row_elements, self._row_text = self._depth, 0, 0
        if self._rows > self._limits.rows:
            _refuse(f"the sheet has more than {self._limits.rows} rows")

    def _end(self, _: str) -> None:
        self._pending = 0
        if self._depth == self._row_depth:
            self._row_depth = 0
        self._depth -= 1

    def _text(self, text: str) -> None:
        self._pending = 0
        if self._row_depth:
            self._row_text += len(text)
            if self._row_text > self._limits.row_text:
                _refuse(f"row {self._rows} has more than {self._limits.row_text} characters")

    def _doctype(self, *_: object) -> None:
        raise Refused(Problem("MALFORMED_XLSX", "a document type declaration is not accepted", "body"))


def _refuse_large_directory(file: IO[bytes]) -> None:
    # Private, but the only way to learn the size of the directory before ZipFile reads it.
    directory = zipfile._EndRecData(file)  # type: ignore[attr-defined] # noqa: SLF001
    if not directory:
        raise BadZipFile("it has no directory")
    if directory[_DIRECTORY_SIZE] > MAX_DIRECTORY_BYTES:
        _refuse(f"the directory of the archive has more than {MAX_DIRECTORY_BYTES} bytes")


def _refuse(reason: str) -> NoReturn:
    raise Refused(Problem("TOO_LARGE", f"{reason}; send CSV instead", "body"))
