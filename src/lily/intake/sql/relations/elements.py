"""The elements of arrays: in functions that yield a row for each of them, in lambdas, and in comprehensions."""

from collections.abc import Mapping
from functools import reduce

from sqlglot import exp

from lily.intake.sql.relations.columns import Field
from lily.intake.sql.relations.paths import path_of
from lily.intake.sql.relations.scopes import Session

_OF_ONE_VALUE = (exp.ArrayAgg, exp.AnyValue, exp.Order, exp.Limit, exp.IgnoreNulls, exp.RespectNulls, exp.Bracket)


def array_of(function: exp.Expr) -> exp.Expr | None:
    """The array of UNNEST, EXPLODE and FLATTEN; None of several arrays, and of other functions."""
    if isinstance(function, exp.Unnest):
        arrays: list[exp.Expr] = list(function.expressions)
        return arrays[0] if len(arrays) == 1 else None
    if not isinstance(function, exp.Explode | exp.Inline | exp.Posexplode):
        return None
    array: exp.Expr = function.this
    return array.expression if isinstance(array, exp.Kwarg) else array


def value_of(array: exp.Expr) -> exp.Expr:
    """What the elements of `array_agg(x order by y limit 1)[offset(0)]`, `any_value(x)` and `[x]` are: x. An array has
    the fields of its elements."""
    while isinstance(array, _OF_ONE_VALUE) and isinstance(array.this, exp.Expr):
        array = array.this
    return array.expressions[0] if isinstance(array, exp.Array) and len(array.expressions) == 1 else array


def fields_of(element: Field, session: Session) -> Mapping[str, Field]:
    """The fields of a struct: those that the query built it from, else those that the catalogue has."""
    if element.parts is not None or not element.copied:
        return element.parts or {}
    below = session.tables.children(next(iter(element.origins)))
    return {name: Field(name, frozenset({column}), copied=True) for name, column in below.items()}


def mapped(node: exp.Transform | exp.Comprehension) -> list[exp.Expr]:
    """What the elements of the result are made of, with the array in place of the name of its element."""
    if isinstance(node, exp.Comprehension):
        values = [value for value in (node.this, node.args.get("condition")) if isinstance(value, exp.Expr)]
        return [found for value in values for found in _with_array(value, node.expression.name, node.args["iterator"])]
    function, array = node.expression, node.this
    if not isinstance(function, exp.Lambda) or not function.expressions:
        return list(node.iter_expressions())
    return _with_array(function.this, function.expressions[0].name, array)


def _with_array(value: exp.Expr, name: str, array: exp.Expr) -> list[exp.Expr]:
    """The array itself is added once, however often the value uses its elements: copies in copies would grow fast."""
    is_path, whole = path_of(array) is not None, list[exp.Expr]()

    def replaced(node: exp.Expr) -> exp.Expr:
        fields = _used_fields(node, name.lower())
        if fields is None:
            return node
        if fields and is_path:
            return reduce(lambda found, field: exp.Dot(this=found, expression=field.copy()), fields, array.copy())
        whole[:] = [array]
        return exp.Null()

    return [value.copy().transform(replaced), *whole]


def _used_fields(node: exp.Expr, name: str) -> list[exp.Expr] | None:
    """The fields of the element that an expression names, which may be none; None if it is something else."""
    if isinstance(node, exp.Column):
        first, *fields = node.parts
    elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        first, *fields = node.flatten()
    else:
        first, fields = node, []
        if isinstance(node.parent, exp.Column | exp.Alias | exp.Dot | exp.Lambda) and node.arg_key != "this":
            return None
    if not isinstance(first, exp.Identifier) or first.name.lower() != name or _is_bound_inside(node, name):
        return None
    return fields


def _is_bound_inside(node: exp.Expr, name: str) -> bool:
    """Whether a lambda within the value has an element of the same name."""
    inner = node.find_ancestor(exp.Lambda)
    while inner is not None:
        if any(given.name.lower() == name for given in inner.expressions):
            return True
        inner = inner.find_ancestor(exp.Lambda)
    return False
