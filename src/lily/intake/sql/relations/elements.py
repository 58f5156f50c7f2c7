"""The elements of arrays: in functions that yield a row for each of them, in lambdas, and in comprehensions."""

from collections.abc import Mapping

from sqlglot import exp

from lily.intake.sql.relations.columns import Field
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
        return [_with_array(value, node.expression.name, node.args["iterator"]) for value in values]
    function, array = node.expression, node.this
    if not isinstance(function, exp.Lambda) or not function.expressions:
        return list(node.iter_expressions())
    return [_with_array(function.this, function.expressions[0].name, array)]


def _with_array(value: exp.Expr, name: str, array: exp.Expr) -> exp.Expr:
    def replaced(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Identifier):
            is_value = not isinstance(node.parent, exp.Column | exp.Alias | exp.Dot) or (
                isinstance(node.parent, exp.Dot) and node.arg_key == "this"
            )
            return array.copy() if is_value and node.name.lower() == name.lower() else node
        if isinstance(node, exp.Column) and node.parts[0].name.lower() == name.lower():
            found = array.copy()
            for part in node.parts[1:]:
                found = exp.Dot(this=found, expression=part.copy())
            return found
        return node

    return value.copy().transform(replaced)
