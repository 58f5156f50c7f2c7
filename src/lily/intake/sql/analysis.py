"""Follows the data through a script, one statement after the other, and through its temporary tables."""

from collections import Counter

from sqlglot import exp

from lily.intake.sql.completion import complete_copies
from lily.intake.sql.defaults import Defaults
from lily.intake.sql.dialects import dialect_of, paths_are_local
from lily.intake.sql.execution import Execution
from lily.intake.sql.graph import Graph, Names
from lily.intake.sql.moved_tables import connect_moved
from lily.intake.sql.named_tables import named_tables
from lily.intake.sql.outcomes import UNREAD, outcome_of, reason_without_edges
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult, Outcome
from lily.intake.sql.relations.catalogue import Tables
from lily.intake.sql.relations.scopes import Session
from lily.intake.sql.script.statements import Statement, statements_of
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
        self._known = request.known or {}
        self._tables = Tables(self._known, expands=request.expands)
        self._graph = Graph()
        self._outcomes: list[Outcome] = []
        self._filled: dict[int, list[str]] = {}  # by outcome: temporary tables, if it writes nothing else
        self._is_doubtful = False  # something else is missing than the columns of `*`
        self._warnings: dict[str, None] = {}
        self._writer = Writer(self._tables, self._graph)
        self._dialect = dialect_of(request.dialect)
        defaults = Defaults(request.database, request.schema, self._dialect)
        self._execution = Execution(defaults, self._dialect, self._writer, request.target)

    def result(self, statements: tuple[Statement, ...], tables: dict[str, str]) -> AnalysisResult:
        for statement in statements:
            self._add(statement)
        self._report_unread()
        complete_copies(self._writer)
        self._warnings |= dict.fromkeys(connect_moved(self._writer))
        names = Names(self._known, paths_are_local=paths_are_local(self._dialect))
        pairs = dict(self._graph.pairs())
        edges = names.edges(pairs)
        definitions = [pairs[pair] for pair in pairs if len(set(names.edge(pair)[:2])) > 1]
        return AnalysisResult(
            len(statements),
            tables,
            edges,
            list(self._warnings)[:MAX_WARNINGS],
            [None if target is None else names.table(target) for target in definitions],
            *outcome_counts(self._outcomes),
            made={names.table(key): columns for key, columns in self._tables.made().items()},
            named={names.table(key): columns for key, columns in self._tables.named().items() if not self._is_doubtful},
            without_sources=[names.table(key) for key in self._graph.without_sources()],
        )

    def _add(self, statement: Statement) -> None:
        session = self._execution.session(statement.piece)
        self._writer.begin_statement()
        before, failure = self._writer.changes, statement.reason
        edges_before = self._graph.additions
        if failure is None:
            failure = self._execution.applied(statement, session)
        self._warn(statement, session)
        reason = None
        if self._writer.changes == before:
            reason = reason_without_edges(statement, failure, makes_table=bool(self._writer.defined))
        is_doubtful = bool(session.unknown or session.notes or self._writer.warnings)
        is_partial = is_doubtful or bool(session.stars)
        self._is_doubtful |= is_doubtful or failure is not None
        for target in self._writer.defined if is_partial or failure is not None else ():
            self._graph.doubt(target)
        if self._writer.filled and self._graph.additions == edges_before:
            self._filled[len(self._outcomes)] = list(self._writer.filled)
        self._outcomes.append(outcome_of(statement, failure, reason, is_partial=is_partial))
        if failure is not None or (reason is not None and isinstance(statement.expression, exp.Query)):
            self._warnings[f"statement {statement.number}: {reason or failure}"] = None

    def _report_unread(self) -> None:
        for at, tables in self._filled.items():
            if self._tables.read.isdisjoint(tables):
                self._outcomes[at] = self._outcomes[at]._replace(reason=UNREAD)

    def _warn(self, statement: Statement, session: Session) -> None:
        start = f"statement {statement.number}:"
        for text in [*self._writer.warnings, *session.notes]:
            self._warnings[f"{start} {text}"] = None
        for table in session.stars:
            self._warnings[f"{start} {self._star_warning(table)}"] = None
        for name in session.unknown:
            self._warnings[f"{start} the table of column {name} is not known"] = None
        for table in session.named:
            if self._tables.expands and not self._tables.is_known(table) and not self._graph.writes(table):
                self._warnings[
                    f"{table} is not in the catalogue; if its name there is longer, set default_database and "
                    "default_schema"
                ] = None

    def _star_warning(self, table: str) -> str:
        if not self._tables.expands:
            return f"* of {table} is not expanded, because reading its columns needs the scope metadata:read"
        if self._tables.columns(table):
            return (
                f"* of {table} may have more columns than the catalogue knows, because not all have an ordinal_position"
            )
        return f"* of {table} cannot be expanded because the catalogue has no columns of it"


def outcome_counts(outcomes: list[Outcome]) -> tuple[int, int, int, list[Outcome]]:
    counts = Counter(outcome.status for outcome in outcomes)
    without_edges = [outcome for outcome in outcomes if outcome.reason is not None]
    return counts["understood"], counts["partial"], counts["not_understood"], without_edges
