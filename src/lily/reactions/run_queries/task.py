"""The job that analyzes the query of a run. What it finds returns to the log, as if the producer had sent it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

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
from lily.reactions.run_queries.analysis import Analyzed, QueryAnalysis
from lily.reactions.run_queries.analyzers import Analyzers
from lily.reactions.run_queries.lacking_columns import ColumnSource, ColumnsUnavailable
from lily.reactions.run_queries.names import named_query
from lily.store.postgres.jobs import Job, Later
from lily.store.postgres.run_queries.ledger import QueryLedger

WAITS = timedelta(minutes=1)  # for what the catalogue or the lake may have soon; other queries of the tenant wait too

_log = structlog.get_logger()
# Events with their topics; returns when they are in the log.
Append = Callable[[Sequence[tuple[str, AssetEvent | ClaimsEvent]]], None]


class AnalyzingQueries:
    def __init__(
        self,
        naming: Naming,
        registry: CollectorRegistry,
        analyzers: Analyzers,
        append: Append,
        lake: Callable[[], ColumnSource],
    ) -> None:
        self._analysis, self._append = QueryAnalysis(naming, analyzers, lake), append
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
        waits = datetime.now(UTC) - job.enqueued_at < WAITS
        if not all_named and waits:
            return Later(1.0, "a dataset of the run is not in the catalogue yet")
        try:
            found = self._analysis.analyze(connection, event, query, needs_lake=waits)
        except ColumnsUnavailable as error:
            return Later(5.0, str(error))
        except Unreadable as error:
            found = None
            reason = error.problems[0].description if error.problems else ""
            _log.info("query of a run not understood", tenant=job.tenant, job=event.job_id, reason=reason[:300])
        if found is not None:
            self._state(event, query, found)
            ledger.record(replace(event, query=query), found.reads, found.result.made)
        elif (stated := self._analysis.unread(connection, event, query)) is not None:
            self._state(event, query, stated)
        self._analyzed.labels(_outcome(found)).inc()
        return None

    def _state(self, event: ClaimsEvent, query: RunQuery, found: Analyzed) -> None:
        """What its sender may not read or state may be the reason that an edge is missing: then no edge ends."""
        completes = query._replace(complete=query.complete and not found.limited)
        completed = with_claims(replace(event, query=completes), found.result)
        if completed is not None:
            assets = new_assets(event, found.result, found.tables)
            stated = [(topics.OF_LANE[lane_of(asset)], asset) for asset in assets]
            self._append([*stated, (topics.LINEAGE_INTAKE, completed)])


def _outcome(found: Analyzed | None) -> str:
    if found is None or found.result.not_understood:
        return "not_understood"
    return "partial" if found.result.partial else "understood"
