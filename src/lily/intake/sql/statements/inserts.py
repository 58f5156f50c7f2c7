"""INSERT in all its forms."""

from sqlglot import exp

from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Session, Source
from lily.intake.sql.statements.conflicts import on_conflict
from lily.intake.sql.statements.reading import Reading
from lily.intake.sql.statements.target import Target, target_of
from lily.intake.sql.statements.writer import Writer


def insert(statement: exp.Insert, session: Session, writer: Writer) -> None:
    if isinstance(statement.this, exp.Directory):
        rows = Reading(statement, session).query(statement.expression)
        writer.insert(Target(statement.this.this.name), rows)
        return
    target = target_of(statement.this, session)
    if target is None or statement.expression is None:
        return
    rows = Reading(statement, session).query(statement.expression)
    if rows.tables:
        writer.insert(target, rows, by_name=bool(statement.args.get("by_name")))
    on_conflict(statement, target, rows, session, writer)


def insert_many(statement: exp.MultitableInserts, session: Session, writer: Writer) -> None:
    """`INSERT ALL … SELECT …`, and Hive's `FROM source INSERT … SELECT …`."""
    reading, source = Reading(statement, session), statement.args.get("source")
    if source is None:
        return
    if any(isinstance(entry, exp.Insert) for entry in statement.expressions):
        _of_hive(statement, source, session, writer)
        return
    rows = reading.query(source)
    conditions: list[
        exp.Expr
    ] = []  # of the last WHEN; for ELSE, and for the next WHEN of `INSERT FIRST`, of all before
    is_first = str(statement.args.get("kind")).upper() == "FIRST"
    before: list[exp.Expr] = []
    for entry in statement.expressions:
        if isinstance(entry, exp.ConditionalInsert) and isinstance(entry.this, exp.Insert):
            condition = entry.args.get("expression")
            if condition:
                conditions = [*before, condition] if is_first else [condition]
                before.append(condition)
            elif entry.args.get("else_"):
                conditions = before
            _insert_some(entry, rows, conditions, session, writer)


def _insert_some(
    entry: exp.ConditionalInsert, rows: Relation, conditions: list[exp.Expr], session: Session, writer: Writer
) -> None:
    """One INTO, which has the conditions of the WHEN or ELSE before it."""
    target = target_of(entry.this.this, session)
    if target is None:
        return
    reading = Reading(entry, session)
    reading.scope.sources.append(Source("", (), rows))
    reading.rows.reads(rows)
    for condition in conditions:
        reading.expressions.influence(condition)
    values = entry.this.expression
    if isinstance(values, exp.Values) and values.expressions:
        row = values.expressions[0]
        for value in row.expressions if isinstance(row, exp.Tuple) else [row]:
            reading.rows.items.append(reading.expressions.field(value, value.alias_or_name.lower()))
    else:
        reading.rows.items = list(rows.items)
    writer.insert(target, reading.rows)


def _of_hive(statement: exp.MultitableInserts, source: exp.Expr, session: Session, writer: Writer) -> None:
    for entry in statement.expressions:
        if not isinstance(entry, exp.Insert) or not isinstance(entry.expression, exp.Select):
            continue
        query = entry.expression.copy()
        if query.args.get("from_") is None:
            query = query.from_(source.copy())
        target = target_of(entry.this, session)
        if target is not None:
            writer.insert(target, Reading(statement, session).query(query))
