"""XLSX: the CSV on the first sheet of a workbook.

A workbook is a ZIP archive, whose directory is at its end: it can only be read as a whole. So it is spooled to a
temporary file of limited size. Its parts are read within the limits of `xlsx_parts`.
"""

import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from zipfile import BadZipFile

from lily.formats.row import too_long
from lily.formats.table import Header, is_blank
from lily.formats.xlsx_parts import MAX_ROWS, SHEET, SMALL, STRINGS, Parts
from lily.model.errors import Problem, Refused
from lily.plugins.formats import Row

MAX_BYTES = 128 << 20
IN_MEMORY = 1 << 20

if find_spec("openpyxl") is None:
    raise ImportError("openpyxl is not installed; install it with: pip install openpyxl")


class Workbook:
    """Yields its rows at the end of the body."""

    reads_whole_body = True

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
        sheet = _first_sheet(self._file, self._length)
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


def _first_sheet(file: IO[bytes], length: int) -> Any:
    """Reads only what the first sheet needs, each part within its limits."""
    # openpyxl takes 28 MB and 0.3 s, which only workbooks should cost.
    from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415
    from openpyxl.styles.stylesheet import apply_stylesheet  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions, which are not read
        parts = _parts(file, length)
        reader = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
        reader.archive = parts
        reader.read_manifest()
        parts.limits = STRINGS
        reader.read_strings()
        parts.limits = SMALL
        reader.read_workbook()
        apply_stylesheet(parts, reader.wb)
        sheet = _sheet(reader)
    parts.limits = SHEET
    return sheet


def _parts(file: IO[bytes], length: int) -> Parts:
    try:
        return Parts(file, length)
    except BadZipFile as error:
        raise Refused(Problem("MALFORMED_XLSX", f"the body is not a workbook: {error}", "body")) from error


def _sheet(reader: Any) -> Any:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet  # noqa: PLC0415 - as above

    class Unsized(ReadOnlyWorksheet):  # type: ignore[misc] # openpyxl has no types
        """Without the size that the sheet states: if it states none, openpyxl would read the whole sheet for it."""

        def _get_size(self) -> None:
            pass

    for sheet, relation in reader.parser.find_sheets():
        if relation.target in reader.valid_files and "chartsheet" not in relation.Type:
            return Unsized(reader.wb, sheet.name, relation.target, reader.shared_strings)
    raise Refused(Problem("MALFORMED_XLSX", "the workbook has no sheet", "body"))
