"""Applies a statement to the tables and the graph of its script."""

from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

from lily.intake.sql.relations.columns import Field
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Session
from lily.intake.sql.statements.creations import create
from lily.intake.sql.statements.inserts import insert, insert_many
from lily.intake.sql.statements.loads import copy, export, load
from lily.intake.sql.statements.merges import merge
from lily.intake.sql.statements.reading import Reading
from lily.intake.sql.statements.renames import alter
from lily.intake.sql.statements.target import Target, is_temporary, target_of
from lily.intake.sql.statements.updates import delete, update
from lily.intake.sql.statements.writer import Writer

Apply = Callable[[Any, Session, Writer], None]


def apply(statement: exp.Expr, session: Session, writer: Writer, *, into_table: bool = True) -> None:
    """`into_table`: whether SELECT INTO makes a table. Otherwise it assigns variables."""
    for inner in _written_inside(statement):
        _apply(inner, session, writer, into_table=into_table)
    _apply(statement, session, writer, into_table=into_table)


def _written_inside(statement: exp.Expr) -> Iterator[exp.Expr]:
    """Statements in common table expressions, which write as well: `with x as (insert … returning *)`, and in T-SQL's
    `insert into log select … from (merge … output …) as m`."""
    if isinstance(statement, exp.Insert):
        yield from (query.this.copy() for query in statement.find_all(exp.Subquery) if isinstance(query.this, exp.DML))
    common = statement.args.get("with_")
    if not isinstance(common, exp.With):
        return
    for cte in common.expressions:
        if isinstance(cte.this, exp.Insert | exp.Update | exp.Delete | exp.Merge):
            inner = cte.this.copy()
            if not inner.args.get("with_"):
                others = [other.copy() for other in common.expressions if other is not cte]
                inner.set("with_", exp.With(expressions=others) if others else None)
            yield inner


def _apply(statement: exp.Expr, session: Session, writer: Writer, *, into_table: bool) -> None:
    if isinstance(statement, exp.Query) and into_table:
        _select_into(statement, session, writer)
    elif (handler := _HANDLERS.get(type(statement))) is not None:
        handler(statement, session, writer)


def _select_into(query: exp.Query, session: Session, writer: Writer) -> None:
    """The first SELECT of a union names the table of all of it."""
    first: exp.Expr = query
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    into = first.args.get("into")
    if not isinstance(into, exp.Into) or not isinstance(into.this, exp.Table):
        return
    target = target_of(into.this, session)
    if target is not None:
        temporary = bool(into.args.get("temporary")) or is_temporary(into.this)
        writer.define(Target(target.key, None, temporary), Reading(exp.Select(), session).query(query))


def _drop(statement: exp.Drop, session: Session, writer: Writer) -> None:
    for table in statement.args.get("tables") or [statement.this]:
        if isinstance(table, exp.Table):
            writer.forget(session.key(table))


def _cache(statement: exp.Cache, session: Session, writer: Writer) -> None:
    target = target_of(statement.this, session)
    if target is not None and isinstance(statement.expression, exp.Query):
        rows = Reading(statement, session).query(statement.expression)
        writer.define(Target(target.key, None, temporary=True), rows)


def _declare(statement: exp.Declare, _session: Session, writer: Writer) -> None:
    """T-SQL: `declare @rows table (id int)`."""
    for item in statement.expressions:
        kind = item.args.get("kind")
        if isinstance(kind, exp.Schema):
            columns = [column.name.lower() for column in kind.expressions if isinstance(column, exp.ColumnDef)]
            for variable in item.this if isinstance(item.this, list) else [item.this]:
                key = "@" + variable.name.lower().lstrip("@")
                writer.tables.temporary[key] = Relation([Field(name) for name in columns])


_HANDLERS: dict[type[exp.Expr], Apply] = {
    exp.Alter: alter,
    exp.Cache: _cache,
    exp.Copy: copy,
    exp.Create: create,
    exp.Declare: _declare,
    exp.Delete: delete,
    exp.Drop: _drop,
    exp.Export: export,
    exp.Insert: insert,
    exp.LoadData: load,
    exp.Merge: merge,
    exp.MultitableInserts: insert_many,
    exp.Update: update,
}
