"""What an INSERT does with rows that are there already: ON CONFLICT DO UPDATE, ON DUPLICATE KEY UPDATE."""

from collections.abc import Iterator

from sqlglot import exp

from lily.intake.sql.relations.columns import NO_ORIGINS, Column
from lily.intake.sql.relations.names import alias_columns, alias_of, name_parts
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Scope, Session, Source
from lily.intake.sql.relations.sources import Sources
from lily.intake.sql.statements.reading import Reading, assigned
from lily.intake.sql.statements.target import Target
from lily.intake.sql.statements.writer import Writer

_EXCLUDED = "excluded"


def on_conflict(statement: exp.Insert, target: Target, rows: Relation, session: Session, writer: Writer) -> None:
    conflict = statement.args.get("conflict")
    if not isinstance(conflict, exp.OnConflict) or not conflict.expressions:
        return
    reading = Reading(statement, session)
    reading.scope.sources += _new_rows(statement, target, rows, session)
    reading.scope.sources.append(Source(*_names(statement), session.tables.relation(target.key)))
    reading.scope.outer = _selected(statement, session, reading)
    for name, _, _ in assigned(conflict.expressions):
        session.tables.use(Column(target.key, name))  # so that it is not ambiguous in the values
    reading.assign(value.copy().transform(_of_new_row) for value in conflict.expressions)
    reading.expressions.influence(conflict.args.get("where"))
    reading.rows.tables.pop(target.key, None)
    if rows.tables or reading.rows.tables:
        reading.rows.tables |= rows.tables
        own = [field.name for field in reading.rows.fields]
        writer.insert(Target(target.key, own, target.temporary), reading.rows)


def _new_rows(statement: exp.Insert, target: Target, rows: Relation, session: Session) -> Iterator[Source]:
    """`excluded` are the rows of the INSERT, which MySQL may give another name: `values (1, 2) as new (a, b)`."""
    names = target.columns or session.tables.ordered_columns(target.key) or [field.name for field in rows.fields]
    every = None if any(field.origins for field in rows.fields) or rows.is_open else NO_ORIGINS
    for name, columns in ((_EXCLUDED, names), (alias_of(statement.expression), alias_columns(statement.expression))):
        fields = [field.renamed(column) for column, field in zip(columns or names, rows.positions(), strict=False)]
        if name:
            yield Source(name, (), Relation(list(fields), every=every))


def _selected(statement: exp.Insert, session: Session, reading: Reading) -> Scope:
    """MySQL: the values may name columns of the tables that the INSERT selects from."""
    scope, query = Scope(session, reading.outer), statement.expression
    if isinstance(query, exp.Select) and statement.args["conflict"].args.get("duplicate"):
        sources, start = Sources(scope, Relation()), query.args.get("from_")
        if start is not None:
            sources.add(start.this)
        for join in query.args.get("joins") or ():
            sources.join(join)
    return scope


def _of_new_row(value: exp.Expr) -> exp.Expr:
    """MySQL: `values(a)`."""
    if isinstance(value, exp.Anonymous) and value.name.upper() == "VALUES" and len(value.expressions) == 1:
        return exp.column(value.expressions[0].name, _EXCLUDED)
    return value


def _names(statement: exp.Insert) -> tuple[str, tuple[str, ...]]:
    """The alias or name of the table that is written, and its name as written."""
    table = statement.this.this if isinstance(statement.this, exp.Schema) else statement.this
    alias = statement.args["alias"].name if statement.args.get("alias") else table.alias_or_name
    return str(alias).lower(), tuple(name_parts(table))
