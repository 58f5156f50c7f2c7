"""Queues what follows from tables that were renamed, and from deletions of senders that may not delete everything."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycopg import Connection

from lily.model.edges import NO_DATASETS, ClaimsEvent
from lily.store.postgres.jobs.queue import NewJob, enqueue

TASK = "change-tables"  # the name is stored with its jobs, so it stays

Gone = tuple[str, str, str, str]  # id of the table, qualified name and name of the column, clock of the schema


def queue_table_changes(
    connection: Connection[Any], events: Iterable[ClaimsEvent], gone: Mapping[str, Sequence[Gone]]
) -> None:
    """Runs in the transaction that merges the events, so nothing is lost and nothing is queued twice. `gone` are
    columns that newer schemas lack, by the id of the event. What waits for the lake delays only its own job."""
    for event in events:
        columns = gone.get(event.id, ())
        if event.tables.renamed or event.tables.dropped or columns:
            arguments = {"event": _without_lineage(event).as_cloudevent(), "gone": [list(column) for column in columns]}
            enqueue(connection, event.tenant, NewJob(TASK, arguments, f"{TASK}:{event.job_id}"))


def _without_lineage(event: ClaimsEvent) -> ClaimsEvent:
    """Of the schemas only those of renamed tables are needed, and they are in the event's own statements."""
    return replace(event, claims=(), datasets=NO_DATASETS, facets={}, query=None, names=(), complete=False)
