"""Who is asking, as conditions: for warehouses whose policies can ask."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from lily.connect.enforcers.access import Cell, strictness
from lily.connect.enforcers.warehouses.tables import Subject, WarehouseTable, by_cell

Test = Callable[[Iterable[Subject]], str]  # whether the session is one of the subjects, which are never none
Filter = Callable[[str], str]  # a row filter in the dialect


def visible_rows(table: WarehouseTable, test: Test, written: Filter) -> str:
    """True for the rows that the session sees. All filters of all subjects that it matches apply."""
    denied = [subject for subject, sight in table.sights.items() if sight.denied]
    allowed = [subject for subject, sight in table.sights.items() if not sight.denied]
    if not allowed:
        return "FALSE"
    filtered: dict[str, list[Subject]] = defaultdict(list)
    for subject in allowed:
        for one in table.sights[subject].filters:
            filtered[one].append(subject)
    parts = [f"NOT ({test(denied)})"] if denied else []
    parts.append(f"({test(allowed)})")
    parts += [f"(NOT ({test(subjects)}) OR ({written(one)}))" for one, subjects in sorted(filtered.items())]
    return " AND ".join(parts)


def shown_value(table: WarehouseTable, place: int, test: Test, value: Callable[[Cell], str | None]) -> str:
    """The value of a column for the session: the strictest of what its subjects see. `value` is None for NULL."""
    cells = sorted(by_cell(table, place), key=lambda pair: (not pair[0].denied, strictness(pair[0])))
    whens = [f"WHEN {test(subjects)} THEN {_shown(cell, value)}" for cell, subjects in cells]
    return f"CASE {' '.join(whens)} ELSE NULL END" if whens else "NULL"


def _shown(cell: Cell, value: Callable[[Cell], str | None]) -> str:
    shown = None if cell.denied else value(cell)
    return "NULL" if shown is None else shown
