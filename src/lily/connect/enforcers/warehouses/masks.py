"""Masks as expressions that Snowflake and Databricks read alike, but for a few functions."""

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from lily.connect.enforcers.access import Cell, Value
from lily.connect.enforcers.warehouses.types import ColumnType

KEPT = 4  # characters that `show-first-4` and `show-last-4` leave
# What `mask-to-fixed-value` shows where the policy names no value.
_FIXED = {"text": "xxxx", "number": 0, "boolean": False, "date": "1970-01-01", "timestamp": "1970-01-01 00:00:00"}
# ASCII letters, and everything that is not printable ASCII: without backslashes, which dialects escape differently.
LETTERS, DIGITS = "[A-Za-z]|[^ -~]", "[0-9]"


class Functions(NamedTuple):
    """What differs: how a text is written, hashes of a text and of bytes, and a text that no two queries share."""

    literal: Callable[[str], str]
    hashed_binary: str
    salt: str
    hashed: str = "SHA2({}, 256)"


def masked(name: str, kind: ColumnType, cell: Cell, functions: Functions) -> str | None:
    """The masked value of an expression, with the type of its column; None where the type cannot take the mask."""
    shown = _masked(name, kind, cell, functions)
    return None if shown is None else f"CAST({shown} AS {kind.sql})"


def _masked(name: str, kind: ColumnType, cell: Cell, functions: Functions) -> str | None:  # noqa: PLR0911 - a mask each
    match cell.mask:
        case "":
            return name
        case "mask-to-fixed-value":
            return fixed(kind, cell.value, functions.literal)
        case "mask-alphanum" if kind.family == "text":
            return f"REGEXP_REPLACE(REGEXP_REPLACE({name}, '{LETTERS}', 'x'), '{DIGITS}', 'n')"
        case "show-first-4" if kind.family == "text":
            return _around(name, f"RPAD(LEFT({name}, {KEPT}), LENGTH({name}), 'x')")
        case "show-last-4" if kind.family == "text":
            return _around(name, f"LPAD(RIGHT({name}, {KEPT}), LENGTH({name}), 'x')")
        case "truncate-to-year" | "truncate-to-month" if kind.family in {"date", "timestamp"}:
            return f"DATE_TRUNC('{'YEAR' if cell.mask.endswith('year') else 'MONTH'}', {name})"
        case "sha-256-global" if kind.family == "text":
            return functions.hashed.format(name)
        case "sha-256-global" if kind.family == "binary":
            return functions.hashed_binary.format(name)
        case "sha-256-query-local" if kind.family == "text":
            return functions.hashed.format(f"CONCAT({functions.salt}, {name})")
        case _:
            return None


def _around(name: str, shown: str) -> str:
    """A text that has no more characters than would be shown is masked whole."""
    return f"CASE WHEN LENGTH({name}) <= {KEPT} THEN REPEAT('x', LENGTH({name})) ELSE {shown} END"


def fixed(kind: ColumnType, value: Value, literal: Callable[[str], str]) -> str | None:
    """A constant of the column's type; None if the value is not one."""
    given = _FIXED.get(kind.family) if value is None else value
    text = str(given).lower() if isinstance(given, bool) else str(given)
    if given is None or not _is_valid(text, kind.family):
        return None
    return literal(text)


_CHECKS: dict[str, Callable[[str], object]] = {
    "text": lambda _: True,
    "number": lambda text: Decimal(text).is_finite(),
    "boolean": lambda text: text in {"true", "false"},
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
}


def _is_valid(text: str, family: str) -> bool:
    check = _CHECKS.get(family)
    try:
        return check is not None and bool(check(text))
    except (ValueError, InvalidOperation):
        return False
