"""The job that analyzes the query of a run. What it finds returns to the log, as if the producer had sent it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import structlog
from prometheus_client import CollectorRegistry, Counter
from psycopg import Connection

from lily.bus import topics
from lily.intake.openlineage.naming import Naming
from lily.intake.sql.process import Unreadable
from lily.model.edges import ClaimsEvent, read_claims_event
from lily.model.events import AssetEvent
from lily.model.lanes import lane_of
from lily.model.run_queries import RunQuery
from lily.reactions.run_queries.additions import new_assets, with_claims
from lily.reactions.run_queries.analyzers import Analyzers
from lily.reactions.run_queries.names import named_query
from lily.reactions.run_queries.tables import QueryTables, known_tables, request_of
from lily.store.postgres.jobs import Job, Later
from lily.store.postgres.run_queries.ledger import QueryLedger

MAX_TABLES = 500  # of one query
NAMED_WITHIN = timedelta(minutes=1)  # assets and claims are read from different partitions

_log = structlog.get_logger()
Append = Callable[[Sequence[tuple[str, bytes, bytes]]], None]  # topic, key and value; returns when they are in the log


class AnalyzingQueries:
    def __init__(self, naming: Naming, registry: CollectorRegistry, analyzers: Analyzers, append: Append) -> None:
        self._naming, self._analyzers, self._append = naming, analyzers, append
        self._analyzed = Counter(
            "lily_run_queries", "SQL of runs that was analyzed, by outcome", ["outcome"], registry=registry
        )

    def run(self, connection: Connection[Any], job: Job) -> Later | None:
        """Appends to the log before its transaction commits: it may do so twice, which changes nothing. Raises
        what `append` raises."""
        given = job.arguments["event"]
        event = read_claims_event(given, received=given["time"])  # whether it is too new was decided at the door
        ledger = QueryLedger(connection, job.tenant)
        if event.query is None or ledger.is_superseded(event):
            return None
        query, all_named = named_query(event, event.query, ledger)
        if not all_named and datetime.now(UTC) - job.enqueued_at < NAMED_WITHIN:
            return Later(1.0, "a dataset of the run is not in the catalogue yet")
        try:
            outcome = self._analyze(replace(event, query=query), query, ledger)
        except Unreadable as error:
            outcome = "not_understood"
            reason = error.problems[0].description if error.problems else ""
            _log.info("query of a run not understood", tenant=job.tenant, job=event.job_id, reason=reason[:300])
        self._analyzed.labels(outcome).inc()
        return None

    def _analyze(self, event: ClaimsEvent, query: RunQuery, ledger: QueryLedger) -> str:
        request = request_of(query)
        named = self._analyzers.analyze(request).tables
        if len(named) > MAX_TABLES:
            return "not_understood"
        tables = QueryTables(query, self._naming, ledger, event.tenant).find(named)
        result = self._analyzers.analyze(request.with_tables(known_tables(tables)))
        completed = with_claims(event, result)
        if completed is not None:
            assets = [_asset_record(asset) for asset in new_assets(event, result, tables)]
            value = orjson.dumps(completed.as_cloudevent())
            self._append([*assets, (topics.LINEAGE_INTAKE, completed.key, value)])
        ledger.record(event, sorted({tables[key].qualified_name for key in named}), result.made)
        if result.not_understood:
            return "not_understood"
        return "partial" if result.partial else "understood"


def _asset_record(event: AssetEvent) -> tuple[str, bytes, bytes]:
    return topics.OF_LANE[lane_of(event)], event.key, orjson.dumps(event.as_cloudevent())
