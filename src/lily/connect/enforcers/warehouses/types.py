"""Types of columns as the catalogue states them: parsed, so that what is placed into a statement is a type."""

from typing import Any, Literal, NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

Family = Literal["text", "number", "boolean", "date", "timestamp", "binary", "other"]

MAX_LENGTH = 1_000
_TYPE = exp.DataType.Type
_FAMILIES: dict[Family, frozenset[Any]] = {
    "text": frozenset({*exp.DataType.TEXT_TYPES}),
    "number": frozenset({*exp.DataType.NUMERIC_TYPES}),
    "boolean": frozenset({_TYPE.BOOLEAN}),
    "date": frozenset({_TYPE.DATE}),
    "timestamp": frozenset(
        {_TYPE.TIMESTAMP, _TYPE.TIMESTAMPTZ, _TYPE.TIMESTAMPLTZ, _TYPE.TIMESTAMPNTZ, _TYPE.DATETIME, _TYPE.DATETIME64}
    ),
    "binary": frozenset({_TYPE.BINARY, _TYPE.VARBINARY}),
}


class ColumnType(NamedTuple):
    """`sql` is the type in the warehouse's dialect."""

    sql: str
    family: Family


def parse_type(text: str, dialect: str) -> ColumnType | None:
    """None for what is not stated, and for what is not a type that the dialect is known to have."""
    if not text or len(text) > MAX_LENGTH:
        return None
    try:
        found = exp.DataType.build(text, dialect=dialect, udt=False)
        sql = found.sql(dialect=dialect, comments=False)
        again = exp.DataType.build(sql, dialect=dialect, udt=False)
    except (SqlglotError, RecursionError):
        return None
    if again.this in {_TYPE.UNKNOWN, _TYPE.USERDEFINED, _TYPE.NULL} or again.sql(dialect=dialect) != sql:
        return None
    families: list[Family] = [name for name, kinds in _FAMILIES.items() if again.this in kinds]
    return ColumnType(sql, families[0] if families else "other")
