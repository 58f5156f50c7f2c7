"""Rows of cells under a header of attribute names: what CSV and XLSX have in common."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

from lily.model.errors import Problem, Refused
from lily.model.statements import NAME_ATTRIBUTES
from lily.model.values import MAX_ATTRIBUTES

SEPARATOR = "|"
FIELDS = frozenset({"entity_type", "operation", "time", "tenant_id"})  # of the ingest body; the rest are attributes
REQUIRED = ("entity_type", "name")
LISTS = frozenset({"tags", "business_terms"})
MAX_COLUMNS = MAX_ATTRIBUTES + len(FIELDS)
_TEXTS = NAME_ATTRIBUTES | FIELDS | {"qualified_name", "description", "parent"}  # a table may be called 2024


class Header:
    """The first row. Raises Refused for more columns than an asset may have attributes, and for names that are empty,
    repeated, or missing although every row needs them."""

    def __init__(self, cells: Sequence[Any]) -> None:
        self._names = [str(cell).strip() if cell is not None else "" for cell in cells]
        while self._names and not self._names[-1]:
            self._names.pop()  # spreadsheets have empty columns at the end
        if len(self._names) > MAX_COLUMNS:
            description = f"the header has {len(self._names)} columns; at most {MAX_COLUMNS} are allowed"
            raise Refused(Problem("MALFORMED_TABLE", description, "row"))
        flaws = [f"column {number} has no name" for number, name in enumerate(self._names, 1) if not name]
        flaws += [f"{name!r} occurs twice" for name, times in Counter(self._names).items() if name and times > 1]
        flaws += [f"{name!r} is missing" for name in REQUIRED if name not in self._names]
        if flaws:
            # Shows the names, because a file with semicolons between its cells has a single long one.
            found = ", ".join(repr(name[:200]) for name in self._names[:20])
            raise Refused(Problem("MALFORMED_TABLE", f"the header ({found}): {'; '.join(flaws[:20])}", "row"))

    def __len__(self) -> int:
        return len(self._names)

    def body(self, cells: Sequence[Any]) -> dict[str, Any] | Problem:
        """The ingest body of a row. An empty cell is not stated."""
        if any(not _is_empty(cell) for cell in cells[len(self._names) :]):
            description = f"the row has {len(cells)} cells, the header {len(self._names)}"
            return Problem("MALFORMED_TABLE", description, "row")
        body: dict[str, Any] = {}
        attributes: dict[str, Any] = {}
        for name, cell in zip(self._names, cells, strict=False):
            if not _is_empty(cell):
                (body if name in FIELDS else attributes)[name] = _value(name, cell)
        body["attributes"] = attributes
        return body


def is_blank(cells: Sequence[Any]) -> bool:
    return all(_is_empty(cell) for cell in cells)


def _value(name: str, cell: Any) -> Any:
    if name in LISTS:
        return [item for item in map(str.strip, str(cell).split(SEPARATOR)) if item]
    if isinstance(cell, date | time):
        return _moment(name, cell)
    return str(cell) if name in _TEXTS else cell


def _moment(name: str, cell: date | time) -> str:
    """Spreadsheets have no time zones: the time of a statement is UTC, as everywhere in Lily."""
    return f"{cell.isoformat()}Z" if name == "time" and isinstance(cell, datetime) else cell.isoformat()


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())
