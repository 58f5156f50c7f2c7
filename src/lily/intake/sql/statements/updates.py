"""UPDATE and DELETE."""

from collections.abc import Collection, Sequence

from sqlglot import exp

from lily.intake.sql.relations.columns import Column
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Session
from lily.intake.sql.statements.reading import Reading, assigned
from lily.intake.sql.statements.target import Target, is_temporary
from lily.intake.sql.statements.writer import Writer


def update(statement: exp.Update, session: Session, writer: Writer) -> None:
    table = statement.this
    if not isinstance(table, exp.Table):
        return
    reading, source = Reading(statement, session), statement.args.get("from_")
    written = _written(table, source)
    reading.sources.add(table if source is None or written is table else _bare(written))
    if source is not None:
        reading.sources.add(source.this)
    reading.expressions.influence(statement.args.get("where"))
    target = _target(written, reading, session)
    own = {written.alias.lower(), written.name.lower(), table.name.lower()} - {""}
    others = {other.alias_or_name.lower(): other for other in table.find_all(exp.Table)} if source is None else {}
    of_others = {name: _assigning(statement.expressions, name) for name in others.keys() - own}
    taken = {id(entry) for some in of_others.values() for entry in some}
    given = [entry for entry in statement.expressions if id(entry) not in taken]
    _assign(given, own, target, reading, writer)
    for name, some in of_others.items():
        if some:
            _assign(some, {name}, _target(others[name], reading, session), reading, writer)


def _assigning(assignments: Sequence[exp.Expr], table: str) -> list[exp.Expr]:
    """MySQL: `update a join b … set a.x = b.y, b.z = 1` writes both tables."""
    columns = ((entry, entry.this) for entry in assignments if isinstance(entry, exp.EQ))
    return [entry for entry, column in columns if isinstance(column, exp.Column) and column.table.lower() == table]


def _assign(
    assignments: Sequence[exp.Expr], names: Collection[str], target: Target, reading: Reading, writer: Writer
) -> None:
    for name, _, _ in assigned(assignments, names):
        writer.tables.use(Column(target.key, name))  # so that it is not ambiguous in the values
    reading.rows.items = []
    reading.assign(assignments, names)
    read, fields = reading.rows, reading.rows.fields
    tables = {key: None for key in read.tables if key != target.key}
    if tables or any(field.origins for field in fields):
        columns = [field.name for field in fields]
        writer.insert(Target(target.key, columns, target.temporary), Relation([*fields], tables, read.influences))


def delete(statement: exp.Delete, session: Session, writer: Writer) -> None:
    """Other tables decide which rows are left."""
    table = statement.this
    if not isinstance(table, exp.Table):
        return
    reading = Reading(statement, session)
    using = statement.args.get("using") or []
    joined = [join.this for join in table.args.get("joins") or () if using]  # MySQL: `delete from a, b using …`
    sources = {other.alias_or_name.lower() for source in using for other in source.find_all(exp.Table)}
    if table.alias_or_name.lower() not in sources:
        reading.sources.add(table)
    for other in using:
        reading.sources.add(other)
    reading.expressions.influence(statement.args.get("where"))
    named = statement.args.get("tables") or [table, *joined]
    for written in named:
        target = _target(_written(written, *using, table), reading, session)
        writer.influence(target, Relation(influences=reading.rows.influences))


def _target(table: exp.Table, reading: Reading, session: Session) -> Target:
    """T-SQL also updates common table expressions: what changes is the table below."""
    common = reading.outer.common_table(table.name.lower()) if not table.db else None
    if common is None:
        return Target(session.key(table), temporary=is_temporary(table))
    tables = list(common.relation().tables)
    return Target(tables[0] if tables else session.key(table))


def _written(table: exp.Table, *sources: exp.Expr | None) -> exp.Table:
    """In T-SQL and in MySQL the target may be an alias of the FROM clause."""
    for other in (other for source in sources if source is not None for other in source.find_all(exp.Table)):
        if other.alias and other.alias.lower() == table.name.lower() and not table.db:
            return other
    return table


def _bare(table: exp.Table) -> exp.Table:
    """The table without its joins, which belong to the FROM clause."""
    bare = table.copy()
    bare.set("joins", None)
    return bare
