"""The tables that a script names, so that the catalogue can be asked for them before the script is analyzed."""

from collections.abc import Iterator

from sqlglot import exp

from lily.intake.sql.defaults import Defaults
from lily.intake.sql.relations.catalogue import Tables
from lily.intake.sql.relations.clickhouse import dictionary_entry, remote_table
from lily.intake.sql.relations.names import location_of
from lily.intake.sql.relations.queries import read_query
from lily.intake.sql.relations.scopes import Session
from lily.intake.sql.script.parsing import NotParsed, parse_query
from lily.intake.sql.script.piece import Piece
from lily.intake.sql.script.statements import Statement
from lily.intake.sql.statements import commands


def named_tables(statements: tuple[Statement, ...], defaults: Defaults, dialect: str) -> Iterator[tuple[str, str]]:
    """The key of each table, and how it is written."""
    found, loops = set[str](), set[str]()
    for statement in statements:
        defaults.apply(statement.expression, statement.piece)
        session = Session(Tables({}), read_query, defaults.database, defaults.schema)
        expressions = [statement.expression, *_inside(statement.piece, dialect, loops)]
        for key, written in _named(expressions, statement.piece, session):
            if key and key not in found:
                found.add(key)
                yield key, written


def _named(expressions: list[exp.Expr | None], piece: Piece, session: Session) -> Iterator[tuple[str, str]]:
    for table in (table for expression in expressions if expression is not None for table in _tables(expression)):
        key = session.key(table)
        own = ".".join(part.name for part in table.parts)
        yield key, key[: len(key) - len(own)] + own if key.endswith(own.lower()) else key
    for pair in (commands.moved(piece, session), commands.stream(piece, session)):
        yield from ((key, key) for key in pair or ())
    yield from ((key, key) for key in commands.named_parts(piece, session))
    yield from ((key, key) for key in commands.named_renames(piece, session))


def _inside(piece: Piece, dialect: str, loops: set[str]) -> Iterator[exp.Expr]:
    """Queries that are not statements: of loops, each once, and of UNLOAD."""
    queries = [query.plain for _, query in piece.rows if query.plain not in loops]
    loops.update(queries)
    unloaded = commands.unloaded(piece)
    for query in [*queries, *(unloaded[:1] if unloaded is not None else ())]:
        try:
            yield parse_query(query, dialect)
        except NotParsed:
            continue  # it is reported when the statement is analyzed


def _tables(expression: exp.Expr) -> Iterator[exp.Table]:
    for table in expression.find_all(exp.Table):
        remote = remote_table(table)
        if remote is not None:
            yield remote
        elif isinstance(table.this, exp.Identifier | exp.DynamicIdentifier) and location_of(table) is None:
            yield table
    for function in expression.find_all(exp.Anonymous):
        if (entry := dictionary_entry(function)) is not None:
            yield entry[0]
