"""Workbooks for the tests of formats."""

import io
from collections.abc import Sequence
from typing import Any

from openpyxl import Workbook


def workbook(rows: Sequence[Sequence[Any]]) -> bytes:
    """An XLSX file with these rows on its first sheet, and a second sheet."""
    book, file = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.create_sheet("another").append(["is", "not", "read"])
    book.save(file)
    return file.getvalue()
