"""MERGE: one source, several ways to write it."""

from sqlglot import exp

from lily.intake.sql.relations.columns import Field
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Session, Source
from lily.intake.sql.statements.reading import Reading, column_name
from lily.intake.sql.statements.target import Target, target_of
from lily.intake.sql.statements.writer import Writer


def merge(statement: exp.Merge, session: Session, writer: Writer) -> None:
    target, using, whens = target_of(statement.this, session), statement.args.get("using"), statement.args.get("whens")
    if target is None or using is None or whens is None:
        return
    for when in whens.expressions:
        reading = _reading(statement, target, session)
        reading.expressions.influence(statement.args.get("on"), when.args.get("condition") or None)
        then = when.args.get("then")
        if isinstance(then, exp.Update) and isinstance(then.args.get("expressions"), list):
            _update(then, reading, target, writer)
        elif isinstance(then, exp.Update):
            _all_by_name(reading, target, writer)
        elif isinstance(then, exp.Insert):
            _insert(then, reading, target, writer)
        else:
            writer.influence(target, reading.rows)


def _reading(statement: exp.Merge, target: Target, session: Session) -> Reading:
    """The source comes first: a name without a table is the source's unless only the target has it."""
    reading = Reading(statement, session)
    reading.sources.add(statement.args["using"])
    written = statement.this
    name = (written.alias or written.name).lower()
    reading.scope.sources.append(Source(name, (name,), session.tables.relation(target.key), in_star=False))
    return reading


def _update(then: exp.Update, reading: Reading, target: Target, writer: Writer) -> None:
    if any(isinstance(entry, exp.Star) for entry in then.expressions):
        _all_by_name(reading, target, writer)
        return
    reading.assign(then.expressions, {reading.scope.sources[-1].name, target.key.rpartition(".")[2]})
    reading.expressions.influence(then.args.get("where"))
    writer.insert(Target(target.key, [field.name for field in reading.rows.fields], target.temporary), reading.rows)


def _insert(then: exp.Insert, reading: Reading, target: Target, writer: Writer) -> None:
    values = then.expression
    if not isinstance(values, exp.Tuple):
        _all_by_name(reading, target, writer)
        return
    columns = then.this if isinstance(then.this, exp.Tuple | exp.Schema) else None
    names = [column_name(column) for column in columns.expressions] if columns is not None else None
    reading.scope.sources = reading.scope.sources[:1]
    for at, value in enumerate(values.expressions):
        name = names[at] if names is not None and at < len(names) else value.alias_or_name.lower()
        reading.rows.items.append(reading.expressions.field(value, name))
    reading.expressions.influence(then.args.get("where"))
    writer.insert(Target(target.key, names, target.temporary), reading.rows)


def _all_by_name(reading: Reading, target: Target, writer: Writer) -> None:
    """`update set *`, `insert *`, `insert row`: all columns of the source, by name."""
    items = reading.scope.sources[0].relation.items
    for item in items:
        if not isinstance(item, Field):
            reading.scope.session.stars |= dict.fromkeys(sorted(item.tables))
    rows = Relation(list(items), reading.rows.tables, reading.rows.influences)
    writer.insert(Target(target.key, None, target.temporary), rows, by_name=True)
