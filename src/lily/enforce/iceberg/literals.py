"""Constants of a row filter as JSON values of Iceberg's specification, by the type of the column they are compared
with."""

from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from uuid import UUID

from sqlglot import exp

from lily.enforce.iceberg.errors import NotExpressible

Value = str | int | float | bool
_RANGES = {"int": 31, "long": 63, "": 63}  # bits; the last where the type is not known
_FLOATING = frozenset({"float", "double"})
_TEXT_CASTS = frozenset(
    {exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR, exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP}
    | {exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.DATETIME}
)


def constant(node: exp.Expr, user: str) -> exp.Literal | exp.Boolean | exp.Null | None:
    """The constant that an expression is; None if it depends on the row or on the time."""
    node = node.unnest()
    if isinstance(node, exp.CurrentUser):
        return exp.Literal.string(user)
    if isinstance(node, exp.Neg) and isinstance(inner := node.this.unnest(), exp.Literal) and not inner.is_string:
        return exp.Literal(this=f"-{inner.name}", is_string=False)
    if isinstance(node, exp.Cast) and node.to.this in _TEXT_CASTS:
        inner = node.this.unnest()
        return inner if isinstance(inner, exp.Literal) and inner.is_string else None
    return node if isinstance(node, exp.Literal | exp.Boolean | exp.Null) else None


def json_value(node: exp.Literal | exp.Boolean, kind: str) -> Value:
    """Raises NotExpressible if it is not a value of the type. Where the type is not known, the reader has to refuse a
    value of another type."""
    try:
        if isinstance(node, exp.Boolean):
            return _boolean(node, kind)
        return _text(node.name, kind) if node.is_string else _number(node.name, kind)
    except (ValueError, InvalidOperation) as error:
        described = f"a column of the type {kind} is compared with {node.name[:64]!r}; compare values of its type"
        raise NotExpressible("ROW_FILTER_NOT_EXPRESSIBLE", described, "row_filter") from error


def _boolean(node: exp.Boolean, kind: str) -> bool:
    if kind not in {"boolean", ""}:
        raise ValueError(kind)
    return bool(node.this)


def _number(text: str, kind: str) -> Value:
    number = Decimal(text)
    if not number.is_finite():
        raise ValueError(text)
    if kind == "decimal":
        return f"{number:f}"
    is_whole = number == number.to_integral_value()
    if kind in _FLOATING or (not kind and not is_whole):
        return float(number)
    if not is_whole or kind not in _RANGES or not -(2 ** _RANGES[kind]) <= number < 2 ** _RANGES[kind]:
        raise ValueError(text)
    return int(number)


def _text(text: str, kind: str) -> str:
    match kind:
        case "string" | "":
            return text
        case "date":
            return date.fromisoformat(text).isoformat()
        case "timestamp":
            return _moment(text, zoned=False).isoformat(timespec="microseconds")
        case "timestamptz":
            return _moment(text, zoned=True).astimezone(UTC).isoformat(timespec="microseconds")
        case "uuid":
            return str(UUID(text))
        case _:
            raise ValueError(kind)


def _moment(text: str, *, zoned: bool) -> datetime:
    """A moment without a time zone would depend on the session's."""
    moment = datetime.fromisoformat(text)
    if (moment.tzinfo is not None) != zoned:
        raise ValueError(text)
    return moment
