"""Masks as SQL expressions of Trino. Each has exactly the type of its column; where the type cannot take it, NULL.

Trino evaluates a mask on the values that are stored, before the WHERE clause of a query sees them.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

from lily.enforce.trino.identifiers import literal, quoted
from lily.enforce.trino.types import ColumnType, parse_type
from lily.policy import Decision, Mask, MaskAction, RowFilter, conjunction
from lily.policy.masks import FIXED_VALUES, SHOWN_CHARACTERS

DIALECT = "trino"
MAX_KEPT = 50_000  # expressions
MAX_KEPT_LENGTH = 500  # of the name and the type of a column, so that long ones do not fill the memory
_NUMBERS = ("integer", "decimal", "floating")
_FIXED = FIXED_VALUES | dict.fromkeys(_NUMBERS, FIXED_VALUES["number"])
_FROM_TEXT = frozenset({"text", "integer", "decimal", "floating", "boolean", "date", "timestamp", "uuid"})

Expression = Callable[[str, ColumnType], str | None]


def mask_expression(
    column: str, column_type: str, decision: Decision, table_filters: Sequence[RowFilter]
) -> str | None:
    """What a query sees instead of the column; None if it sees the value. Raises Refused if
    a stored row filter is not valid.

    A row filter that applies to the column and not to its whole table hides the value in the rows that it excludes.
    """
    own = tuple(one for one in decision.row_filters if one not in table_filters)
    if decision.allowed and decision.mask is None and not own:
        return None
    mask = decision.mask if decision.allowed else _NOTHING
    expression = _expression if len(column) + len(column_type) <= MAX_KEPT_LENGTH else _expression.__wrapped__
    return expression(column, column_type, mask, type(mask and mask.value).__name__, own)


_NOTHING = Mask("replace-with-null")


@lru_cache(maxsize=MAX_KEPT)
def _expression(column: str, column_type: str, mask: Mask | None, _kind: str, filters: tuple[RowFilter, ...]) -> str:
    """`_kind` keeps the values 1 and true apart, which are equal in Python."""
    known, name = parse_type(column_type), quoted(column)
    if known is None:
        return "NULL"  # which Trino takes for a value of any type
    shown = name if mask is None else masked(name, known, mask)
    if shown is not None and filters:
        shown = f"CASE WHEN {conjunction(filters, DIALECT)} THEN {shown} END"
    return f"CAST({shown or 'NULL'} AS {known.sql})"


def masked(name: str, column_type: ColumnType, mask: Mask) -> str | None:
    """The masked value of an expression; None where the type cannot take the mask."""
    if mask.action == "mask-to-fixed-value":
        return _fixed(column_type, mask.value)
    return _EXPRESSIONS[mask.action](name, column_type)


def _fixed(column_type: ColumnType, value: str | float | None) -> str | None:
    if value is None and column_type.family == "binary":
        return "X''"
    if value is None:
        fixed = _FIXED.get(column_type.family)
        return None if fixed is None else literal(fixed)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"TRY_CAST({literal(text)} AS {column_type.sql})" if column_type.family in _FROM_TEXT else None


def _null(_name: str, _type: ColumnType) -> None:
    return None


def _alphanum(name: str, column_type: ColumnType) -> str | None:
    """Letters become x, digits n; the rest, and so the shape, stays."""
    if column_type.family != "text":
        return None
    letters = rf"regexp_replace(CAST({name} AS varchar), '[\p{{L}}\p{{M}}]', 'x')"
    return rf"regexp_replace({letters}, '\p{{N}}', 'n')"


def _first(name: str, column_type: ColumnType) -> str | None:
    return _around(name, column_type, lambda text: f"rpad(substr({text}, 1, {SHOWN_CHARACTERS}), length({text}), 'x')")


def _last(name: str, column_type: ColumnType) -> str | None:
    return _around(name, column_type, lambda text: f"lpad(substr({text}, -{SHOWN_CHARACTERS}), length({text}), 'x')")


def _around(name: str, column_type: ColumnType, shown: Callable[[str], str]) -> str | None:
    """A text that has no more characters than would be shown is masked whole."""
    if column_type.family != "text":
        return None
    text = f"CAST({name} AS varchar)"
    return f"IF(length({text}) <= {SHOWN_CHARACTERS}, rpad('', length({text}), 'x'), {shown(text)})"


def _year(name: str, column_type: ColumnType) -> str | None:
    return f"date_trunc('year', {name})" if column_type.is_instant else None


def _month(name: str, column_type: ColumnType) -> str | None:
    return f"date_trunc('month', {name})" if column_type.is_instant else None


def _hash_everywhere(name: str, column_type: ColumnType) -> str | None:
    return _hashed(name, column_type, "sha256({})")


def _hash_in_query(name: str, column_type: ColumnType) -> str | None:
    """The time is that of the query's start, so it is the same wherever the query meets a value, and no other query's.
    Trino 476 sends no query id that could take its place."""
    return _hashed(name, column_type, "hmac_sha256({}, to_utf8(CAST(current_timestamp(12) AS varchar)))")


def _hashed(name: str, column_type: ColumnType, function: str) -> str | None:
    if column_type.family == "text":
        return f"lower(to_hex({function.format(f'to_utf8(CAST({name} AS varchar))')}))"
    return function.format(name) if column_type.family == "binary" else None


_EXPRESSIONS: dict[MaskAction, Expression] = {
    "replace-with-null": _null,
    "mask-alphanum": _alphanum,
    "show-first-4": _first,
    "show-last-4": _last,
    "truncate-to-year": _year,
    "truncate-to-month": _month,
    "sha-256-global": _hash_everywhere,
    "sha-256-query-local": _hash_in_query,
}
