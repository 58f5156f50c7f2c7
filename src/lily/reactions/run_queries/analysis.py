"""Analyzes one query with what the catalogue knows of its tables, and as far as its sender may read and state it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import structlog
from psycopg import Connection

from lily.intake.openlineage.naming import Naming
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult
from lily.model.edges import ClaimsEvent
from lily.model.run_queries import RunQuery, combines_queries
from lily.reactions.run_queries.analyzers import Analyzers
from lily.reactions.run_queries.lacking_columns import ColumnSource, ColumnsUnavailable, LackingColumns
from lily.reactions.run_queries.rights import readable, writable
from lily.reactions.run_queries.sender_policies import policies_of
from lily.reactions.run_queries.stated_columns import with_stated
from lily.reactions.run_queries.tables import QueryTables, known_tables, request_of
from lily.store.postgres.run_queries.ledger import QueryLedger, StoredTable

MAX_TABLES = 500  # of one query

_log = structlog.get_logger()
Tables = Mapping[str, StoredTable]


class Analyzed(NamedTuple):
    """`reads` are the qualified names of the tables that the query names. `limited` if policies, or a missing scope,
    keep the sender from reading or stating some of it."""

    result: AnalysisResult
    tables: Tables
    reads: Sequence[str]
    limited: bool


class QueryAnalysis:
    def __init__(self, naming: Naming, analyzers: Analyzers, lake: Callable[[], ColumnSource]) -> None:
        self._naming, self._analyzers, self._lacking = naming, analyzers, LackingColumns(lake)

    def analyze(
        self, connection: Connection[Any], event: ClaimsEvent, query: RunQuery, *, needs_lake: bool
    ) -> Analyzed | None:
        """None if it names too many tables. Raises Unreadable, and ColumnsUnavailable if it `needs_lake`."""
        request = request_of(query)
        named = self._analyzers.analyze(request).tables
        if len(named) > MAX_TABLES:
            return None
        found = self._tables(connection, event, query, named)
        tables = self._with_lake(connection, event.tenant, found, needed=needs_lake)
        reads = sorted({tables[key].qualified_name for key in named})
        if query.sender is None:
            result = _with_stated(event, query, self._result(request, tables), tables)
            return Analyzed(result, tables, reads, limited=_lacks_columns(query, result))
        policies = policies_of(connection, event.tenant, query.sender)
        visible = readable(policies, tables)
        result = _with_stated(event, query, self._result(request, visible), tables)
        permitted = writable(policies, result, tables)
        limited = visible != tables or permitted is not result or _lacks_columns(query, result)
        return Analyzed(permitted, tables, reads, limited)

    def unread(self, connection: Connection[Any], event: ClaimsEvent, query: RunQuery) -> Analyzed | None:
        """What the producer states, of a query that cannot be analyzed."""
        if not query.columns:
            return None
        tables = self._tables(connection, event, query, {})
        result = _with_stated(event, query, AnalysisResult(1, {}, not_understood=1), tables)
        if query.sender is not None:
            result = writable(policies_of(connection, event.tenant, query.sender), result, tables)
        return Analyzed(result, tables, (), limited=True)

    def _tables(
        self, connection: Connection[Any], event: ClaimsEvent, query: RunQuery, named: Mapping[str, str]
    ) -> dict[str, StoredTable]:
        ledger = QueryLedger(connection, event.tenant)
        return QueryTables(query, self._naming, ledger, event.tenant).find(named)

    def _with_lake(self, connection: Connection[Any], tenant: str, tables: Tables, *, needed: bool) -> Tables:
        try:
            return self._lacking.add(connection, tenant, tables)
        except ColumnsUnavailable as error:
            if needed:
                raise
            _log.warning("query of a run analyzed without the lake", tenant=tenant, reason=str(error))
            return tables

    def _result(self, request: AnalysisRequest, tables: Tables) -> AnalysisResult:
        return self._analyzers.analyze(request.with_tables(known_tables(tables)))


def _with_stated(event: ClaimsEvent, query: RunQuery, result: AnalysisResult, tables: Tables) -> AnalysisResult:
    confirmed = {column for schema in event.schemas for column in schema.columns}
    names, combines = {table.qualified_name for table in tables.values()}, combines_queries(query.text)
    return with_stated(result, query.columns, names, confirmed, combines=combines)


def _lacks_columns(query: RunQuery, result: AnalysisResult) -> bool:
    """Whether something is missing that its sender may not read."""
    return not query.expands and result.partial > 0
