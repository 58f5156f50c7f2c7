"""Common table expressions: each is read when it is used, also those that read themselves."""

from sqlglot import exp

from lily.intake.sql.relations.columns import Field
from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.names import alias_columns
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Common, Scope
from lily.intake.sql.relations.unions import recursive


def add_common_tables(query: exp.Expr, scope: Scope) -> None:
    common = query.args.get("with_")
    if not isinstance(common, exp.With):
        return
    for cte in common.expressions:
        name = cte.alias.lower()
        if cte.args.get("scalar"):
            _add_constant(cte.this, name, scope)
            continue
        inside = Scope(scope.session, scope.outer)
        inside.common = dict(scope.common)
        is_recursive = bool(common.args.get("recursive")) or _names_itself(cte, name)
        scope.common[name] = _common(cte, name, inside, is_recursive=is_recursive)


def _add_constant(value: exp.Expr, name: str, scope: Scope) -> None:
    relation = Relation()
    scope.constants[name] = Field(name, Expressions(scope, relation).origins(value))
    scope.read_by_constants.append(relation)


def _common(cte: exp.Expr, name: str, scope: Scope, *, is_recursive: bool) -> Common:
    names = alias_columns(cte)

    def read() -> Relation:
        query = cte.this.unnest()
        if is_recursive and isinstance(query, exp.SetOperation):
            add_common_tables(query, scope)
            return recursive(query, name, names, scope)
        return _renamed(scope.session.read(cte.this, scope), names)

    return Common(read)


def _names_itself(cte: exp.Expr, name: str) -> bool:
    """T-SQL and Oracle do not write RECURSIVE."""
    query = cte.this
    if not isinstance(query, exp.SetOperation) or any(cte.alias.lower() == name for cte in query.find_all(exp.CTE)):
        return False
    return any(table.name.lower() == name and not table.db for table in query.find_all(exp.Table))


def _renamed(relation: Relation, names: list[str]) -> Relation:
    if not names or len(relation.positions()) < len(names):
        return relation
    items = [field.renamed(name) for field, name in zip(relation.positions(), names, strict=False)]
    return Relation(list(items), relation.tables, relation.influences)
