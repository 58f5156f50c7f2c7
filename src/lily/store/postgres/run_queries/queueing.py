"""Queues the analysis of the queries of runs. The queries of a tenant are analyzed one after the other."""

from collections.abc import Iterable
from typing import Any

from psycopg import Connection

from lily.model.edges import ClaimsEvent
from lily.store.postgres.jobs.queue import NewJob, enqueue

TASK = "analyze-run-query"  # the name is stored with its jobs, so it stays


def queue_queries(connection: Connection[Any], events: Iterable[ClaimsEvent]) -> None:
    """Runs in the transaction that merges the events, so no query is lost and none is queued twice."""
    tenants: dict[str, list[NewJob]] = {}
    for event in sorted((event for event in events if event.query), key=lambda event: event.clock):
        tenants.setdefault(event.tenant, []).append(NewJob(TASK, {"event": event.as_cloudevent()}))
    for tenant, jobs in tenants.items():
        enqueue(connection, tenant, *jobs)
