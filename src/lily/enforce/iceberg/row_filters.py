"""Row filters as predicates of Iceberg's expressions specification.

SQL has three truth values and Iceberg two: there `country <> 'DE'` is true for a row without a country. So each
condition is translated twice, into when it is true and into when it is false, and NOT swaps the two. A row for which
SQL would not know is in neither.
"""

from collections.abc import Callable
from typing import NamedTuple

from sqlglot import exp

from lily.enforce.iceberg.errors import NotExpressible
from lily.enforce.iceberg.fields import Field
from lily.enforce.iceberg.literals import constant, json_value
from lily.enforce.iceberg.predicates import Predicate, both, compared, contained, either, reference

FindField = Callable[[str], Field]  # raises NotExpressible for a column whose field id is not known

_OPPOSITE = {"eq": "not-eq", "not-eq": "eq", "lt": "gt-eq", "gt-eq": "lt", "gt": "lt-eq", "lt-eq": "gt"}
_MIRRORED = {"eq": "eq", "not-eq": "not-eq", "lt": "gt", "gt": "lt", "lt-eq": "gt-eq", "gt-eq": "lt-eq"}
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "eq",
    exp.NEQ: "not-eq",
    exp.LT: "lt",
    exp.LTE: "lt-eq",
    exp.GT: "gt",
    exp.GTE: "gt-eq",
}
NEGATED = "negate"  # an argument of IS, IN, LIKE and BETWEEN
# All that a node may consist of. Anything else, such as SYMMETRIC, would change what it means.
_PARTS = frozenset({"this", "expression", "expressions", "low", "high", NEGATED})


class Cases(NamedTuple):
    """For which rows a condition is true, and for which it is false."""

    true: Predicate
    false: Predicate

    @property
    def negated(self) -> "Cases":
        return Cases(self.false, self.true)


UNKNOWN = Cases(false=False, true=False)


class Translator:
    """Of one table's row filters for one user, whose name `current_user` is."""

    def __init__(self, field: FindField, user: str) -> None:
        self._field, self._user = field, user
        self._forms: dict[type[exp.Expr], Callable[[exp.Expr], Cases]] = {
            exp.And: self._and,
            exp.Or: self._or,
            exp.Not: self._not,
            exp.Is: self._is_null,
            exp.In: self._in,
            exp.Between: self._between,
            exp.Like: self._like,
            exp.NullSafeEQ: self._same,
            exp.NullSafeNEQ: self._different,
            **dict.fromkeys(_COMPARISONS, self._comparison),
        }

    def cases(self, node: exp.Expr) -> Cases:
        """Raises NotExpressible for what the predicates cannot say."""
        node = node.unnest()
        if isinstance(node, exp.Boolean):
            return Cases(bool(node.this), not node.this)
        if isinstance(node, exp.Null):
            return UNKNOWN
        if isinstance(node, exp.Column):
            return self._compared("eq", node, exp.true())
        translate = self._forms.get(type(node))
        if translate is None or not _PARTS.issuperset(part for part, value in node.args.items() if value):
            raise inexpressible(node)
        cases = translate(node)
        return cases.negated if node.args.get(NEGATED) else cases

    def _and(self, node: exp.Expr) -> Cases:
        left, right = self.cases(node.this), self.cases(node.expression)
        return Cases(both(left.true, right.true), either(left.false, right.false))

    def _or(self, node: exp.Expr) -> Cases:
        left, right = self.cases(node.this), self.cases(node.expression)
        return Cases(either(left.true, right.true), both(left.false, right.false))

    def _not(self, node: exp.Expr) -> Cases:
        return self.cases(node.this).negated

    def _between(self, node: exp.Expr) -> Cases:
        above = exp.GTE(this=node.this, expression=node.args["low"])
        below = exp.LTE(this=node.this, expression=node.args["high"])
        return self._and(exp.And(this=above, expression=below))

    def _comparison(self, node: exp.Expr) -> Cases:
        operator, column, other = _COMPARISONS[type(node)], node.this.unnest(), node.expression.unnest()
        if not isinstance(column, exp.Column):
            column, other, operator = other, column, _MIRRORED[operator]
        return self._compared(operator, column, other)

    def _compared(self, operator: str, column: exp.Expr, other: exp.Expr) -> Cases:
        value = constant(other, self._user)
        if not isinstance(column, exp.Column) or value is None:
            raise inexpressible(column if value is not None else other)
        if isinstance(value, exp.Null):
            return UNKNOWN
        field = self._field(column.name)
        literal = {"type": "literal", "value": json_value(value, field.kind)}
        return Cases(*(compared(one, field, right=literal) for one in (operator, _OPPOSITE[operator])))

    def _is_null(self, node: exp.Expr) -> Cases:
        column = node.this.unnest()
        if not isinstance(column, exp.Column) or not isinstance(node.expression, exp.Null):
            raise inexpressible(node)
        child = reference(self._field(column.name))
        return Cases({"type": "is-null", "child": child}, {"type": "not-null", "child": child})

    def _in(self, node: exp.Expr) -> Cases:
        column, values = node.this.unnest(), [constant(one, self._user) for one in node.expressions]
        if not isinstance(column, exp.Column) or not values:
            raise inexpressible(node)
        field, listed, has_null = self._field(column.name), [], False
        for value in values:
            if value is None:
                raise inexpressible(node)
            if isinstance(value, exp.Null):
                has_null = True
            else:
                listed.append(json_value(value, field.kind))
        listed = list(dict.fromkeys(listed))
        if not listed:
            return UNKNOWN
        return Cases(contained("in", field, listed), False if has_null else contained("not-in", field, listed))

    def _like(self, node: exp.Expr) -> Cases:
        """Of patterns, a prefix and a text without wildcards can be said."""
        column, pattern = node.this.unnest(), constant(node.expression, self._user)
        if not isinstance(column, exp.Column) or not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise inexpressible(node)
        field, text = self._field(column.name), pattern.name
        prefix = text.removesuffix("%")
        if field.kind not in {"string", ""} or any(mark in prefix for mark in "%_"):
            raise inexpressible(node)
        positive, negative = ("eq", "not-eq") if prefix == text else ("starts-with", "not-starts-with")
        literal = {"type": "literal", "value": prefix}
        return Cases(*(compared(one, field, right=literal) for one in (positive, negative)))

    def _same(self, node: exp.Expr) -> Cases:
        """IS NOT DISTINCT FROM: NULL is a value like others."""
        column, other = node.this.unnest(), node.expression.unnest()
        if not isinstance(column, exp.Column):
            column, other = other, column
        if isinstance(constant(other, self._user), exp.Null):
            return self._is_null(exp.Is(this=column, expression=exp.null()))
        equal = self._compared("eq", column, other)
        null = {"type": "is-null", "child": reference(self._field(column.name))}
        return Cases(equal.true, either(null, equal.false))

    def _different(self, node: exp.Expr) -> Cases:
        return self._same(node).negated


def inexpressible(node: exp.Expr) -> NotExpressible:
    described = (
        f"the row filter has {node.sql(dialect='postgres')[:100]!r}, which Iceberg's expressions cannot state; compare "
        "columns with constants: =, <>, <, <=, >, >=, IN, BETWEEN, LIKE 'prefix%', IS NULL, AND, OR, NOT"
    )
    return NotExpressible("ROW_FILTER_NOT_EXPRESSIBLE", described, "row_filter")
