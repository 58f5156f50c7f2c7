"""Masks as expressions of PostgreSQL. Each has the type of its column, and is NULL where the type cannot take it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from lily.connect.enforcers.access import Value
from lily.connect.enforcers.postgres.identifiers import literal
from lily.policy.masks import FIXED_VALUES, SHOWN_CHARACTERS

BOOKKEEPING = "lily_enforcement"
_FIXED = FIXED_VALUES | {"timestamptz": "1970-01-01 00:00:00+00", "bytea": r"\x"}
_FAMILIES = {
    "int2": "number",
    "int4": "number",
    "int8": "number",
    "numeric": "number",
    "float4": "number",
    "float8": "number",
    "bool": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "uuid": "uuid",
    "bytea": "bytea",
}
# The secret is out of the users' reach, or the hashes of likely values could be computed within the same query.
_SALT = (
    "(SELECT s.salt || pg_backend_pid() || extract(epoch FROM statement_timestamp()) FROM lily_enforcement.salt AS s)"
)


class ColumnType(NamedTuple):
    """`sql` is the type, without its domain: a masked value may violate the domain's constraints."""

    sql: str
    family: str
    collation: str = ""  # qualified and quoted; empty for types without one


class Fixed(NamedTuple):
    """A fixed value and the type it has to become: what PostgreSQL is asked about before it is used."""

    text: str
    type: str


def family(type_name: str, category: str, *, is_builtin: bool) -> str:
    """Texts are a category, because extensions have further ones; the others are known by name."""
    if category == "S":
        return "text"
    return _FAMILIES.get(type_name, "other") if is_builtin else "other"


def fixed_value(column: ColumnType, value: Value) -> Fixed | None:
    """The question whether a value can become the column's type; None where there is no doubt."""
    if value is None or column.family in ("text", "other"):
        return None
    return Fixed(_written(value), column.sql)


def masked(column: str, kind: ColumnType, action: str, value: Value, valid: Mapping[Fixed, bool]) -> str | None:
    """The masked value of a column expression; None where the type cannot take the mask."""
    if action == "mask-to-fixed-value":
        return _fixed(kind, value, valid)
    expression = _EXPRESSIONS.get(action)
    return expression(column, kind.family) if expression else None


def _fixed(kind: ColumnType, value: Value, valid: Mapping[Fixed, bool]) -> str | None:
    if value is None:
        fixed = _FIXED.get(kind.family)
        return None if fixed is None else literal(fixed)
    if kind.family == "text":
        return f"{literal(_written(value))}::text"
    question = fixed_value(kind, value)
    return literal(question.text) if question and valid.get(question) else None


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(column: str) -> str:
    """Compared byte by byte: classes of characters then do not depend on the locale, and every collation allows it."""
    return f'({column}::text COLLATE "C")'


def _alphanum(column: str, family: str) -> str | None:
    """Digits become n, letters x; so does everything that is not known to be neither."""
    if family != "text":
        return None
    letters = f"regexp_replace({_text(column)}, '[^[:space:][:punct:]0-9]', 'x', 'g')"
    return f"regexp_replace({letters}, '[0-9]', 'n', 'g')"


def _around(column: str, family: str, shown: str) -> str | None:
    """A text that has no more characters than would be shown is masked whole."""
    if family != "text":
        return None
    text = _text(column)
    whole = f"WHEN length({text}) <= {SHOWN_CHARACTERS} THEN repeat('x', length({text}))"
    return f"CASE {whole} ELSE {shown.format(text=text, kept=SHOWN_CHARACTERS)} END"


def _truncated(column: str, family: str, unit: str) -> str | None:
    if family == "timestamptz":
        return f"date_trunc('{unit}', {column}, 'UTC')"
    return f"date_trunc('{unit}', {column}::timestamp)" if family in ("date", "timestamp") else None


def _everywhere(column: str, family: str) -> str | None:
    if family == "bytea":
        return f"sha256({column})"
    return f"encode(sha256(convert_to({column}::text, 'UTF8')), 'hex')" if family == "text" else None


def _in_query(column: str, family: str) -> str | None:
    if family == "bytea":
        return f"sha256(convert_to({_SALT}, 'UTF8') || {column})"
    return f"encode(sha256(convert_to({_SALT} || {column}::text, 'UTF8')), 'hex')" if family == "text" else None


_EXPRESSIONS: dict[str, Callable[[str, str], str | None]] = {
    "mask-alphanum": _alphanum,
    "show-first-4": partial(_around, shown="rpad(left({text}, {kept}), length({text}), 'x')"),
    "show-last-4": partial(_around, shown="lpad(right({text}, {kept}), length({text}), 'x')"),
    "truncate-to-year": partial(_truncated, unit="year"),
    "truncate-to-month": partial(_truncated, unit="month"),
    "sha-256-global": _everywhere,
    "sha-256-query-local": _in_query,
}
