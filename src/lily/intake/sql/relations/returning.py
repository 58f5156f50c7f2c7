"""The rows that a statement inside a query returns: `with moved as (delete from a returning *) …`."""

from sqlglot import exp

from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Scope, Source
from lily.intake.sql.relations.sources import Sources
from lily.intake.sql.relations.stars import expand, star_of


def returned(statement: exp.Expr, scope: Scope) -> Relation:
    """They are rows of the table that is written."""
    relation = Relation()
    sources, expressions = Sources(scope, relation), Expressions(scope, relation)
    target = statement.this.this if isinstance(statement.this, exp.Schema) else statement.this
    if not isinstance(target, exp.Table):
        return relation
    sources.add(target)
    written = scope.sources[0].relation
    scope.sources += [Source(name, (), written, in_star=False) for name in ("inserted", "deleted")]  # T-SQL
    if isinstance(statement, exp.Delete):
        for table in statement.args.get("using") or ():
            sources.add(table, in_star=False)
        expressions.influence(statement.args.get("where"))
    clause = statement.args.get("returning")
    for item in clause.expressions if isinstance(clause, exp.Returning) else ():
        star = star_of(item)
        if star is not None:
            relation.items += expand(item, star, scope, expressions.field)
        else:
            relation.items.append(expressions.field(item, item.alias_or_name.lower()))
    return relation
