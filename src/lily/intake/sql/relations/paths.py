"""Columns and the fields below them, in the ways that dialects write them."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlglot import exp

JSON_PATHS = (exp.JSONExtract, exp.JSONExtractScalar)


class Path(NamedTuple):
    """A column and the fields below it: `t.address.city`, `payload:city`, `address['city']`."""

    column: exp.Column
    below: list[str]


def path_of(node: exp.Expr) -> Path | None:
    match node:
        case exp.Column():
            return Path(node, [])
        case exp.Dot(expression=exp.Identifier()):
            return _below(node.this, [node.expression.name])
        case exp.Bracket(expressions=[exp.Literal() as key]):
            return _below(node.this, [key.name] if key.is_string else [])
        case exp.JSONExtract() | exp.JSONExtractScalar():
            return _below(node.this, _keys(node.expression))
        case exp.Paren():
            return path_of(node.this)
    return None


def _below(node: exp.Expr, names: Iterable[str]) -> Path | None:
    path = path_of(node)
    return None if path is None else Path(path.column, [*path.below, *names])


def _keys(path: exp.Expr) -> list[str]:
    if not isinstance(path, exp.JSONPath):
        return []
    return [str(key.this) for key in path.expressions if isinstance(key, exp.JSONPathKey) and isinstance(key.this, str)]


def subscripts(node: exp.Expr) -> list[exp.Expr]:
    """Columns inside a path, such as `doc -> t.key`."""
    if isinstance(node, JSON_PATHS) and not isinstance(node.expression, exp.JSONPath):
        return [node.expression]
    return []
