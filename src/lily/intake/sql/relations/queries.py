"""What a query yields."""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from lily.intake.sql.relations.columns import Field
from lily.intake.sql.relations.common_tables import add_common_tables
from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.match_recognize import matched_rows
from lily.intake.sql.relations.names import alias_columns
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.returning import returned
from lily.intake.sql.relations.scopes import Scope
from lily.intake.sql.relations.sources import Sources
from lily.intake.sql.relations.stars import expand, star_of
from lily.intake.sql.relations.unions import united
from lily.model.errors import Problem, Refused

Items = list[exp.Expr]
MAX_COLUMNS = 50_000  # of one query: queries that join themselves with `*` double their columns again and again


def read_query(query: exp.Expr, outer: Scope) -> Relation:
    scope = Scope(outer.session, outer)
    add_common_tables(query, scope)
    reader = next((reader for kind, reader in _READERS.items() if isinstance(query, kind)), None)
    return Relation() if reader is None else reader(query, scope)


def _of_subquery(query: exp.Subquery, scope: Scope) -> Relation:
    inner = query.this
    if isinstance(inner, exp.Table) or (isinstance(inner, exp.Subquery) and inner.args.get("joins")):
        return _of_table(inner, scope)
    return scope.session.read(inner, scope)


def _of_table(table: exp.Expr, scope: Scope) -> Relation:
    """Of a table, or of a join in parentheses that has an alias."""
    relation = Relation()
    Sources(scope, relation).add(table)
    relation.items = [item for source in scope.sources if source.in_star for item in source.relation.items]
    relation.hidden = scope.sources[0].relation.hidden if len(scope.sources) == 1 else None
    return relation


def _of_values(values: exp.Values, scope: Scope) -> Relation:
    relation = Relation()
    expressions, names = Expressions(scope, relation), alias_columns(values)
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    for at in range(max(map(len, rows), default=0)):
        name = names[at] if at < len(names) else f"column{at + 1}"
        relation.items.append(Field(name, expressions.origins(*(row[at] for row in rows if at < len(row)))))
    return relation


def _of_select(select: exp.Select, scope: Scope) -> Relation:
    relation = Relation()
    for read in scope.read_by_constants:
        relation.reads(read)
    sources, expressions = Sources(scope, relation), Expressions(scope, relation)
    if (start := select.args.get("from_")) is not None:
        sources.add(start.this)
    for lateral in select.args.get("laterals") or ():
        sources.add(lateral)
    for join in select.args.get("joins") or ():
        sources.join(join)
    if (match := select.args.get("match")) is not None:
        scope.sources = [matched_rows(match, scope, expressions)]
    lateral_aliases = scope.session.lateral_aliases
    if not lateral_aliases:
        expressions.influence(*_rows(select))
    _add_items(select, scope, relation, expressions)
    if lateral_aliases:
        expressions.influence(*_rows(select))
    expressions.influence(*_groups(select))
    return relation


def _add_items(select: exp.Select, scope: Scope, relation: Relation, expressions: Expressions) -> None:
    aliases: dict[str, Field] = {}
    for item in select.expressions:
        star = star_of(item)
        if star is not None:
            relation.items += expand(item, star, scope, expressions.field)
            if len(relation.items) > MAX_COLUMNS:
                raise Refused(Problem("TOO_COMPLEX", f"a query has more than {MAX_COLUMNS} columns; split it", "sql"))
            continue
        for name, value in _named(item):
            field = expressions.field(value, name)
            relation.items.append(field)
            if name and isinstance(item, exp.Alias):
                aliases.setdefault(name, field)
                if scope.session.lateral_aliases:
                    scope.aliases.setdefault(name, field)
    scope.aliases = aliases  # GROUP BY, HAVING and QUALIFY may use them


def _named(item: exp.Expr) -> list[tuple[str, exp.Expr]]:
    if isinstance(item, exp.Aliases):  # Spark: `posexplode(items) as (pos, item)`
        values = [exp.Null(), exp.Explode(this=item.this.this)] if isinstance(item.this, exp.Posexplode) else []
        return [
            (name.name.lower(), values[at] if at < len(values) else item.this)
            for at, name in enumerate(item.expressions)
        ]
    if isinstance(item, exp.QueryTransform):  # Hive: `transform(a, b) using 'script' as (c, d)`
        schema = item.args.get("schema")
        return [(name.name.lower(), item) for name in schema.expressions] if schema is not None else []
    if isinstance(item, exp.PropertyEQ | exp.EQ) and isinstance(item.this, exp.Parameter):
        return []  # T-SQL: the variable in `select @total = sum(amount)`
    return [((item.alias_or_name or item.output_name).lower(), item)]


def _rows(select: exp.Select) -> Items:
    """Which rows of the sources are read."""
    connect = select.args.get("connect")
    clauses = [select.args.get(name) for name in ("prewhere", "where")]
    return [*filter(None, clauses), *([connect] if connect is not None else [])]


def _groups(select: exp.Select) -> Items:
    clauses = [clause for name in ("group", "having", "qualify") if (clause := select.args.get(name)) is not None]
    return [*clauses, *(select.args.get("windows") or ())]


_READERS: dict[type[exp.Expr], Callable[[Any, Scope], Relation]] = {
    exp.Subquery: _of_subquery,
    exp.Select: _of_select,
    exp.SetOperation: united,
    exp.Values: _of_values,
    exp.Table: _of_table,
    exp.Insert: returned,
    exp.Update: returned,
    exp.Delete: returned,
    exp.Merge: returned,
}
