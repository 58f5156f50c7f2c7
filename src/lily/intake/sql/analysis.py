"""Follows the data through a script, one statement after the other, and through its temporary tables."""

from collections import Counter
from functools import partial

from sqlglot import exp
from sqlglot.errors import SqlglotError

from lily.intake.sql.completion import complete_copies
from lily.intake.sql.defaults import Defaults
from lily.intake.sql.dialects import allows_lateral_aliases, dialect_of, select_into_makes_a_table
from lily.intake.sql.graph import Graph, Names
from lily.intake.sql.named_tables import named_tables
from lily.intake.sql.outcomes import outcome_of, reason_without_edges
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult, Outcome
from lily.intake.sql.relations.catalogue import Tables
from lily.intake.sql.relations.queries import read_query
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Scope, Session
from lily.intake.sql.script.parsing import NotParsed, parse_query, parsed
from lily.intake.sql.script.piece import Piece
from lily.intake.sql.script.statements import TOO_DEEP, Statement, statements_of
from lily.intake.sql.script.without_data import moves_no_data
from lily.intake.sql.statements import commands
from lily.intake.sql.statements.dispatch import apply
from lily.intake.sql.statements.reading import Reading
from lily.intake.sql.statements.target import Target
from lily.intake.sql.statements.writer import Writer

MAX_WARNINGS = 100


def analyze(request: AnalysisRequest) -> AnalysisResult:
    """Raises Refused for a script of which no statement can be parsed."""
    dialect = dialect_of(request.dialect)
    statements = statements_of(request.sql, dialect)
    tables = dict(named_tables(statements, Defaults(request.database, request.schema, dialect), dialect))
    if request.known is None:
        return AnalysisResult(len(statements), tables)
    return Analysis(request).result(statements, tables)


class Analysis:
    def __init__(self, request: AnalysisRequest) -> None:
        self._dialect = dialect_of(request.dialect)
        self._known = request.known or {}
        self._defaults = Defaults(request.database, request.schema, self._dialect)
        self._tables = Tables(self._known)
        self._graph = Graph()
        self._outcomes: list[Outcome] = []
        self._warnings: dict[str, None] = {}
        self._writer = Writer(self._tables, self._graph)

    def result(self, statements: tuple[Statement, ...], tables: dict[str, str]) -> AnalysisResult:
        for statement in statements:
            self._add(statement)
        complete_copies(self._writer)
        names, pairs = Names(self._known), dict(self._graph.pairs())
        edges = names.edges(pairs)
        definitions = [pairs[pair] for pair in pairs if len(set(names.edge(pair)[:2])) > 1]
        return AnalysisResult(
            len(statements),
            tables,
            edges,
            list(self._warnings)[:MAX_WARNINGS],
            [None if target is None else names.table(target) for target in definitions],
            *outcome_counts(self._outcomes),
        )

    def _add(self, statement: Statement) -> None:
        session = Session(
            self._tables,
            read_query,
            self._defaults.database,
            self._defaults.schema,
            allows_lateral_aliases(self._dialect),
            variables=statement.piece.variables,
            rows={name: partial(self._rows_of, query) for name, query in statement.piece.rows},
        )
        self._writer.warnings.clear()
        before, failure = self._writer.changes, statement.reason
        if failure is None:
            failure = self._applied(statement, session)
        self._warn(statement, session)
        reason = None if self._writer.changes > before else reason_without_edges(statement, failure)
        is_partial = bool(session.unknown or session.stars or session.notes or self._writer.warnings)
        self._outcomes.append(outcome_of(statement, failure, reason, is_partial=is_partial))
        if failure is not None or (reason is not None and isinstance(statement.expression, exp.Query)):
            self._warnings[f"statement {statement.number}: {reason or failure}"] = None

    def _rows_of(self, query: Piece) -> Relation:
        """The rows of a loop's variable."""
        session = Session(self._tables, read_query, self._defaults.database, self._defaults.schema)
        return read_query(parsed(query, self._dialect), Scope(session))

    def _applied(self, statement: Statement, session: Session) -> str | None:
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
        if self._moved(piece, session):
            return None
        if expression is not None and not isinstance(expression, exp.Command):
            into_table = select_into_makes_a_table(self._dialect, in_routine=piece.in_routine)
            apply(expression, session, self._writer, into_table=into_table)
            return None
        if commands.renamed(piece, session, self._writer) or self._unload(statement, session):
            return None
        if commands.dynamic(piece):
            return "its text is put together when it runs"
        return None if moves_no_data(piece) else f"{piece.words[0] or 'the statement'} is not supported"

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
        rows = self._tables.relation(table)
        session.stars |= dict.fromkeys(table for rest in rows.rests for table in sorted(rest.tables))
        return rows

    def _unload(self, statement: Statement, session: Session) -> bool:
        found = commands.unloaded(statement.piece)
        if found is None:
            return False
        rows = Reading(exp.Select(), session).query(parse_query(found[0], self._dialect))
        self._writer.insert(Target(found[1]), Relation(tables=rows.tables))
        return True

    def _warn(self, statement: Statement, session: Session) -> None:
        start = f"statement {statement.number}:"
        for text in [*self._writer.warnings, *session.notes]:
            self._warnings[f"{start} {text}"] = None
        for table in session.stars:
            self._warnings[f"{start} {self._star_warning(table)}"] = None
        for name in session.unknown:
            self._warnings[f"{start} the table of column {name} is not known"] = None
        for table in session.named:
            if not self._tables.is_known(table) and not self._graph.writes(table):
                self._warnings[
                    f"{table} is not in the catalogue; if its name there is longer, set default_database and "
                    "default_schema"
                ] = None

    def _star_warning(self, table: str) -> str:
        if self._tables.columns(table):
            return (
                f"* of {table} may have more columns than the catalogue knows, because not all have an ordinal_position"
            )
        return f"* of {table} cannot be expanded because the catalogue has no columns of it"


def outcome_counts(outcomes: list[Outcome]) -> tuple[int, int, int, list[Outcome]]:
    counts = Counter(outcome.status for outcome in outcomes)
    without_edges = [outcome for outcome in outcomes if outcome.reason is not None]
    return counts["understood"], counts["partial"], counts["not_understood"], without_edges
