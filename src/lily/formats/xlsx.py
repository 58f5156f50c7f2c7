"""XLSX: the CSV on the first sheet of a workbook.

A workbook is a ZIP archive, whose directory is at its end: it can only be read as a whole. So it is spooled to a
temporary file of limited size, and its decompressed size is checked before anything is decompressed.
"""

import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from lily.formats.row import too_long
from lily.formats.table import Header, is_blank
from lily.model.errors import Problem, Refused
from lily.plugins.formats import Row

MAX_BYTES = 128 << 20
MAX_SHEET_BYTES = 2 << 30  # decompressed; sheets are streamed
MAX_PART_BYTES = 48 << 20  # decompressed; every other part (strings, styles) is in memory while the sheet is read
MAX_ROWS = 1_048_576  # the maximum of a sheet
IN_MEMORY = 1 << 20

if find_spec("openpyxl") is None:
    raise ImportError("openpyxl is not installed; install it with: pip install openpyxl")


class Workbook:
    """Yields its rows at the end of the body."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._length = 0
        self._file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - `close` closes it

    def feed(self, chunk: bytes) -> Iterator[Row]:
        self._length += len(chunk)
        if self._length <= MAX_BYTES:
            self._file.write(chunk)
        return iter(())

    def finish(self) -> Iterator[Row]:
        try:
            self._refuse_longer()
            _refuse_bombs(self._file)
            yield from self._rows()
        except Refused as error:
            yield error.problems[0]
        except Exception as error:  # noqa: BLE001 - a damaged workbook can raise anything in the library
            yield Problem("MALFORMED_XLSX", f"the workbook cannot be read: {type(error).__name__}: {error}", "body")

    def close(self) -> None:
        self._file.close()

    def _refuse_longer(self) -> None:
        if self._length > MAX_BYTES:
            raise Refused(Problem("TOO_LARGE", f"a workbook must not exceed {MAX_BYTES} bytes; send CSV", "body"))

    def _rows(self) -> Iterator[Row]:
        sheet = _first_sheet(self._file)
        header = Header(next(sheet.iter_rows(max_row=1, values_only=True), ()))
        # One column more than the header has, to notice a value without a name; a row may name column 18,278.
        rows = sheet.iter_rows(min_row=2, max_row=MAX_ROWS, max_col=len(header) + 1, values_only=True)
        for cells in rows:
            if is_blank(cells):
                yield b""
            elif sum(len(str(cell)) for cell in cells) > self._limit:
                yield too_long(self._limit)
            else:
                yield header.body(cells)


class Xlsx:
    media_types = ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",)
    suffixes = (".xlsx",)

    def splitter(self, limit: int) -> Workbook:
        return Workbook(limit)


def _refuse_bombs(file: IO[bytes]) -> None:
    """Checks the sizes that the archive states: Python decompresses no more than that."""
    try:
        with ZipFile(file) as archive:
            parts = archive.infolist()
    except BadZipFile as error:
        raise Refused(Problem("MALFORMED_XLSX", f"the body is not a workbook: {error}", "body")) from error
    for part in parts:
        limit = MAX_SHEET_BYTES if part.filename.startswith("xl/worksheets/") else MAX_PART_BYTES
        if part.file_size > limit:
            name = part.filename[:100]
            description = f"{name} decompresses to {part.file_size} bytes; {limit} are allowed. Send CSV instead."
            raise Refused(Problem("TOO_LARGE", description, "body"))


def _first_sheet(file: IO[bytes]) -> Any:
    from openpyxl import load_workbook  # noqa: PLC0415 - it takes 28 MB and 0.3 s, which only workbooks should cost

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions, which are not read
        workbook = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    if not workbook.worksheets:
        raise Refused(Problem("MALFORMED_XLSX", "the workbook has no sheet", "body"))
    return workbook.worksheets[0]
