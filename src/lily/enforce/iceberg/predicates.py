"""Predicates of Iceberg's expressions specification, as its JSON."""

from typing import Any

from lily.enforce.iceberg.fields import Field

Predicate = dict[str, Any] | bool
# The others are true for NULL, at least in readers that sort NULL first.
_FALSE_FOR_NULL = frozenset({"eq", "gt", "gt-eq", "in", "starts-with"})


def both(one: Predicate, other: Predicate) -> Predicate:
    return _joined("and", one, other, decisive=False)


def either(one: Predicate, other: Predicate) -> Predicate:
    return _joined("or", one, other, decisive=True)


def _joined(kind: str, one: Predicate, other: Predicate, *, decisive: bool) -> Predicate:
    """A constant decides, or leaves the other one."""
    for this, that in ((one, other), (other, one)):
        if isinstance(this, bool):
            return this if this is decisive else that
    return {"type": kind, "left": one, "right": other}


def reference(field: Field) -> dict[str, Any]:
    """By id, which a row filter of a table must use: a renamed column is still filtered."""
    return {"type": "reference", "id": field.id}


def compared(operator: str, field: Field, right: dict[str, Any]) -> Predicate:
    return _not_null(operator, field, {"type": operator, "left": reference(field), "right": right})


def contained(operator: str, field: Field, values: list[Any]) -> Predicate:
    return _not_null(operator, field, {"type": operator, "child": reference(field), "values": values})


def _not_null(operator: str, field: Field, predicate: dict[str, Any]) -> Predicate:
    if operator in _FALSE_FOR_NULL:
        return predicate
    return both({"type": "not-null", "child": reference(field)}, predicate)
