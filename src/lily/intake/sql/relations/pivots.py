"""PIVOT and UNPIVOT: rows that become columns, and columns that become rows."""

from collections.abc import Iterator

from sqlglot import exp

from lily.intake.sql.relations.columns import Field, Rest
from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.names import alias_columns
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Scope, Source


def pivoted(pivot: exp.Pivot, source: Relation, scope: Scope) -> Relation:
    inner = Scope(scope.session, scope.outer)
    inner.sources.append(Source("", (), source))
    result = Relation(tables=dict(source.tables), influences=set(source.influences))
    expressions = Expressions(inner, result)
    made = list(_unpivoted(pivot, expressions) if pivot.args.get("unpivot") else _made(pivot, expressions))
    consumed = _consumed(pivot)
    names = consumed | {field.name for field in made}
    for item in source.items:
        if isinstance(item, Rest):
            result.items.append(Rest(item.tables, item.openness, item.without | names))
        elif item.name not in consumed:
            result.items.append(item)
    if made:
        result.items = _named(pivot, [*result.items, *made], len(made))
    elif not pivot.args.get("unpivot"):  # Snowflake: `for month in (any)` and `in (select …)`
        result.every = expressions.origins(*pivot.expressions)
        scope.session.notes["the columns that PIVOT makes are only known when it runs"] = None
    if not pivot.args.get("unpivot"):
        named = [field for field in pivot.args.get("fields") or () if isinstance(field, exp.In)]
        queries = (value for field in named for value in field.expressions if isinstance(value, exp.Query))
        expressions.influence(*(field.this for field in named), *queries)
    return result


def _made(pivot: exp.Pivot, expressions: Expressions) -> Iterator[Field]:
    """The columns of PIVOT: each has the value of an aggregate for some rows."""
    aggregates = pivot.expressions
    if not aggregates or any(_is_dynamic(field) for field in pivot.args.get("fields") or ()):
        return
    for at, column in enumerate(pivot.args.get("columns") or ()):
        aggregate = aggregates[at % len(aggregates)]
        yield Field(column.name.lower(), expressions.origins(aggregate))


def _is_dynamic(field: exp.Expr) -> bool:
    return any(isinstance(value, exp.PivotAny | exp.Query) for value in field.expressions)


def _unpivoted(pivot: exp.Pivot, expressions: Expressions) -> Iterator[Field]:
    """The value comes from every listed column; the name is a constant."""
    for field in pivot.args.get("fields") or ():
        if isinstance(field, exp.In):
            listed = [
                entry.this if isinstance(entry, exp.PivotAlias | exp.Alias) else entry for entry in field.expressions
            ]
            for value in pivot.expressions:
                names = value.expressions if isinstance(value, exp.Tuple) else [value]
                for at, name in enumerate(names):  # `unpivot ((sales, cost) for quarter in ((s1, c1), (s2, c2)))`
                    sources = [_member(entry, at) if len(names) > 1 else entry for entry in listed]
                    yield Field(name.name.lower(), expressions.origins(*sources))
            yield Field(field.this.name.lower())


def _member(entry: exp.Expr, at: int) -> exp.Expr:
    """Of `(s1, c1)`."""
    if not isinstance(entry, exp.Tuple) or at >= len(entry.expressions):
        return entry
    member: exp.Expr = entry.expressions[at]
    return member


def _consumed(pivot: exp.Pivot) -> frozenset[str]:
    """The columns of the source that the result does not have."""
    fields = [field for field in pivot.args.get("fields") or () if isinstance(field, exp.In)]
    if pivot.args.get("unpivot"):
        return frozenset(
            column.name.lower() for f in fields for entry in f.expressions for column in entry.find_all(exp.Column)
        )
    inside = [*pivot.expressions, *(field.this for field in fields)]
    return frozenset(column.name.lower() for node in inside for column in node.find_all(exp.Column))


def _named(pivot: exp.Pivot, items: list[Field | Rest], made: int) -> list[Field | Rest]:
    """With the names in `pivot (…) as p (region, jan, feb)`: of all columns, or of the last ones if not all are
    known."""
    names = alias_columns(pivot)
    if len(names) < made or (len(names) > len(items) and not any(isinstance(item, Rest) for item in items)):
        return items
    count = len(names) if len(names) == len(items) else made
    named = [
        item.renamed(name) if isinstance(item, Field) else item
        for item, name in zip(items[-count:], names[-count:], strict=True)
    ]
    return [*items[:-count], *named] if count else items
