"""Applies the statements of a script, one after the other."""

from functools import partial

from sqlglot import exp
from sqlglot.errors import SqlglotError

from lily.intake.sql.defaults import Defaults
from lily.intake.sql.dialects import allows_lateral_aliases, select_into_makes_a_table
from lily.intake.sql.relations.queries import read_query
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Scope, Session
from lily.intake.sql.script.parsing import NotParsed, parse_query, parsed
from lily.intake.sql.script.piece import Piece
from lily.intake.sql.script.statements import TOO_DEEP, Statement
from lily.intake.sql.script.without_data import moves_no_data
from lily.intake.sql.statements import commands
from lily.intake.sql.statements.dispatch import apply
from lily.intake.sql.statements.reading import Reading
from lily.intake.sql.statements.target import Target
from lily.intake.sql.statements.writer import Writer

_CALLS = frozenset({"CALL", "EXEC", "EXECUTE"})


class Execution:
    """`target` is the key of the table that a query without a target of its own writes."""

    def __init__(self, defaults: Defaults, dialect: str, writer: Writer, target: str | None = None) -> None:
        self._defaults, self._dialect, self._writer, self._target = defaults, dialect, writer, target

    def session(self, piece: Piece) -> Session:
        return Session(
            self._writer.tables,
            read_query,
            self._defaults.database,
            self._defaults.schema,
            allows_lateral_aliases(self._dialect),
            variables=piece.variables,
            queried=piece.queried,
            rows={name: partial(self._rows_of, query, piece.variables) for name, query in piece.rows},
        )

    def _rows_of(self, query: Piece, variables: frozenset[str]) -> Relation:
        """The rows of a loop's variable."""
        defaults = self._defaults
        session = Session(self._writer.tables, read_query, defaults.database, defaults.schema, variables=variables)
        return read_query(parsed(query, self._dialect), Scope(session))

    def applied(self, statement: Statement, session: Session) -> str | None:
        """Returns why the statement is not understood, or None. An error in one statement concerns it alone."""
        try:
            return self._apply(statement, session)
        except RecursionError:
            return TOO_DEEP
        except NotParsed as error:
            return error.description
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, SqlglotError) as error:
            return f"it could not be analyzed ({type(error).__name__}: {str(error)[:200]})"

    def _apply(self, statement: Statement, session: Session) -> str | None:
        piece, expression = statement.piece, statement.expression
        if self._defaults.apply(expression, piece):
            return None
        if self._moved(piece, session) or commands.parted(piece, session, self._writer):
            return None
        if expression is not None and not isinstance(expression, exp.Command):
            into_table = select_into_makes_a_table(self._dialect, in_routine=piece.in_routine)
            before = self._writer.changes
            apply(expression, session, self._writer, into_table=into_table)
            if self._target and self._writer.changes == before and isinstance(expression, exp.Query):
                self._writer.define(Target(self._target), read_query(expression, Scope(session)))
            return None
        if commands.renamed(piece, session, self._writer) or self._unload(statement, session):
            return None
        return _not_supported(piece)

    def _moved(self, piece: Piece, session: Session) -> bool:
        """Whether it is a statement that copies all columns of a table, and that sqlglot does not parse."""
        if (moved := commands.moved(piece, session)) is not None:
            self._writer.insert(Target(moved[1]), self._all_columns(moved[0], session), by_name=True)
        elif (loaded := commands.loaded(piece, session)) is not None:
            self._writer.insert(Target(loaded[1]), Relation(tables={loaded[0]: None}))
        elif (stream := commands.stream(piece, session)) is not None:
            self._writer.define(Target(stream[0]), self._all_columns(stream[1], session))
        else:
            return False
        return True

    def _all_columns(self, table: str, session: Session) -> Relation:
        rows = self._writer.tables.relation(table)
        session.stars |= dict.fromkeys(table for rest in rows.rests for table in sorted(rest.tables))
        return rows

    def _unload(self, statement: Statement, session: Session) -> bool:
        found = commands.unloaded(statement.piece)
        if found is None:
            return False
        rows = Reading(exp.Select(), session).query(parse_query(found[0], self._dialect))
        self._writer.insert(Target(found[1]), rows)
        return True


def _not_supported(piece: Piece) -> str | None:
    if commands.dynamic(piece):
        return "its text is put together when it runs"
    if piece.words[0] in _CALLS:
        return "what the procedure reads and writes is not known here"
    return None if moves_no_data(piece) else f"{piece.words[0] or 'the statement'} is not supported"
