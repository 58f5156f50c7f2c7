"""CREATE TABLE, CREATE VIEW, clones and dictionaries."""

from collections.abc import Iterator

from sqlglot import exp

from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Session
from lily.intake.sql.statements.partitions import connect_part
from lily.intake.sql.statements.reading import Reading
from lily.intake.sql.statements.target import Target, is_temporary, target_of
from lily.intake.sql.statements.writer import Writer

_ROWS = exp.Query | exp.Values
_WITH_ROWS = frozenset({"TABLE", "VIEW"})


def create(statement: exp.Create, session: Session, writer: Writer) -> None:
    kind = str(statement.args.get("kind") or "").upper().split()[-1:]
    target = target_of(statement.this, session)
    if target is None:
        return
    if kind == ["DICTIONARY"]:
        _dictionary(statement, target, session, writer)
    elif kind and kind[0] in _WITH_ROWS:
        table = statement.this.this if isinstance(statement.this, exp.Schema) else statement.this
        temporary = is_temporary(table, statement)
        _create(statement, Target(target.key, target.columns, temporary), session, writer)
        if statement.args.get("exists"):  # IF NOT EXISTS: a table that is there keeps its contents
            writer.graph.doubt(target.key)


def _create(statement: exp.Create, target: Target, session: Session, writer: Writer) -> None:
    reading = Reading(statement, session)
    if (copied := _copied(statement)) is not None:
        rows = reading.query(copied)
        session.stars |= dict.fromkeys(table for rest in rows.rests for table in sorted(rest.tables))
        writer.define(target, rows)
    elif isinstance(statement.expression, _ROWS) and _is_without_rows(statement):
        rows = reading.query(statement.expression)
        names = target.columns or [field.name for field in rows.fields if field.name]
        writer.declare(target, names, complete=not rows.is_open)
    elif isinstance(statement.expression, _ROWS):
        _from_query(statement, target, reading.query(statement.expression), session, writer)
    elif (files := _files(statement)) is not None:
        writer.define(target, session.tables.relation(files))
    else:
        _declare(statement, target, session, writer)


def _copied(statement: exp.Create) -> exp.Table | None:
    """The table of CLONE and COPY, and of Teradata's `create table a as b with data`."""
    clone = statement.args.get("clone")
    if clone is not None and isinstance(clone.this, exp.Table):
        return clone.this
    with_data = any(isinstance(p, exp.WithDataProperty) and not p.args.get("no") for p in _properties(statement))
    return statement.expression if with_data and isinstance(statement.expression, exp.Table) else None


def _is_without_rows(statement: exp.Create) -> bool:
    """`create table t as select … with no data`. A materialized view is filled later."""
    is_table = str(statement.args.get("kind") or "").upper() == "TABLE"
    return is_table and any(isinstance(p, exp.WithDataProperty) and p.args.get("no") for p in _properties(statement))


def _files(statement: exp.Create) -> str | None:
    """Spark: `create temporary view v using parquet options (path '/data/x')`."""
    for entry in _properties(statement):
        for option in entry.expressions if isinstance(entry, exp.OptionsProperty) else ():
            if option.name.lower() == "path" and isinstance(option.args.get("value"), exp.Literal):
                return str(option.args["value"].name)
    return None


def _from_query(statement: exp.Create, target: Target, rows: Relation, session: Session, writer: Writer) -> None:
    into = next((entry for entry in _properties(statement) if isinstance(entry, exp.ToTableProperty)), None)
    if into is not None:  # ClickHouse: the view inserts what it selects into a table
        stored = target_of(into.this, session)
        if stored is not None:
            writer.insert(stored, rows, by_name=True)
        return
    writer.define(target, rows)


def _declare(statement: exp.Create, target: Target, session: Session, writer: Writer) -> None:
    """A table without rows. Its columns are known to later statements."""
    like = next((entry for entry in statement.find_all(exp.LikeProperty)), None)
    model = like.this if like is not None else statement.expression
    columns = target.columns or []
    complete = bool(columns)
    if isinstance(model, exp.Table):
        key = session.key(model)
        columns, complete = writer.tables.columns(key), writer.tables.ordered_columns(key) is not None
    above = list(_above(statement, session))
    complete = complete or bool(above)
    for key in above:
        columns = list(dict.fromkeys([*writer.tables.columns(key), *columns]))
        complete = complete and writer.tables.ordered_columns(key) is not None
    writer.declare(target, columns, complete=complete)
    for key in above:
        connect_part(target.key, key, writer, routed=_is_partition(statement))


def _above(statement: exp.Create, session: Session) -> Iterator[str]:
    """PostgreSQL: the tables whose rows include those of this one, which has their columns."""
    for entry in _properties(statement):
        if isinstance(entry, exp.PartitionedOfProperty):
            yield session.key(entry.this)
        elif isinstance(entry, exp.InheritsProperty):
            yield from (session.key(table) for table in entry.expressions if isinstance(table, exp.Table))


def _is_partition(statement: exp.Create) -> bool:
    return any(isinstance(entry, exp.PartitionedOfProperty) for entry in _properties(statement))


def _dictionary(statement: exp.Create, target: Target, session: Session, writer: Writer) -> None:
    """ClickHouse: a copy of the columns of the table that its source names."""
    settings = {
        entry.name.lower(): entry.args["value"].name
        for entry in statement.find_all(exp.DictSubProperty)
        if isinstance(entry.args.get("value"), exp.Expr)
    }
    writer.declare(target, target.columns or [], complete=bool(target.columns))
    if "table" in settings:
        table = exp.table_(settings["table"], db=settings.get("db") or None)
        rows = session.tables.relation(session.key(table))
        found = [match.field for name in target.columns or () if (match := rows.find(name)) is not None]
        writer.insert(target, Relation(list(found), rows.tables), by_name=True)


def _properties(statement: exp.Create) -> list[exp.Expr]:
    properties = statement.args.get("properties")
    return list(properties.expressions) if isinstance(properties, exp.Properties) else []
