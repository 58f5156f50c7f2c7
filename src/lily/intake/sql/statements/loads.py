"""COPY, LOAD DATA, UNLOAD and EXPORT: rows from files and to files. A place of files is named by its path, and has the
columns of the query that is written to it."""

from collections.abc import Iterator

from sqlglot import exp

from lily.intake.sql.relations.names import location_of
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Session
from lily.intake.sql.statements.reading import Reading
from lily.intake.sql.statements.target import Target, target_of
from lily.intake.sql.statements.writer import Writer


def copy(statement: exp.Copy, session: Session, writer: Writer) -> None:
    files = statement.args.get("files") or []
    location = location_of(statement.this) if isinstance(statement.this, exp.Table) else None
    if location is not None or not statement.args.get("kind"):
        rows = _rows(statement.this if location is None else files[0] if files else None, statement, session)
        for name in [location] if location is not None else _paths(files):
            writer.insert(Target(name), rows)
        return
    target = target_of(statement.this, session)
    for source in files if target is not None else ():
        rows = _rows(source, statement, session)
        if target is not None and rows.tables:
            writer.insert(target, rows)


def load(statement: exp.LoadData, session: Session, writer: Writer) -> None:
    target = target_of(statement.this, session)
    given = [
        entry for entry in (statement.args.get("inpath"), statement.args.get("files")) if isinstance(entry, exp.Expr)
    ]
    for path in _paths(given):
        if target is not None:
            writer.insert(target, Relation(tables={path: None}))


def export(statement: exp.Export, session: Session, writer: Writer) -> None:
    rows, options = Reading(statement, session).query(statement.this), statement.args.get("options")
    for entry in options.expressions if options is not None else ():
        if entry.name.lower() == "uri":
            for path in _paths([entry.args["value"]]):
                writer.insert(Target(path), rows)


def _rows(source: exp.Expr | None, statement: exp.Expr, session: Session) -> Relation:
    if isinstance(source, exp.Literal):
        return Relation(tables={source.name: None})
    if isinstance(source, exp.Schema):
        named = [exp.column(column.name) for column in source.expressions]
        source = exp.select(*named).from_(source.this)
    elif isinstance(source, exp.Table) and location_of(source) is None:
        source = exp.select("*").from_(source)
    return Reading(statement, session).query(source) if source is not None else Relation()


def _paths(given: list[exp.Expr]) -> Iterator[str]:
    for entry in given:
        for literal in [entry] if isinstance(entry, exp.Literal) else entry.find_all(exp.Literal):
            if literal.is_string and ("/" in literal.name or literal.name.startswith("@")):
                yield literal.name
