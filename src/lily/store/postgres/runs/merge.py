"""Adds events to the stored runs. All events of a job are in one partition, so no other transaction has its runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import psycopg

from lily.lineage.runs import RunId, RunLineage, add_events, run_id
from lily.model.edges import ClaimsEvent
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query

KEPT_RUNS = 1_000  # of one job


def merge_runs(
    connection: psycopg.Connection[Any], events: Sequence[ClaimsEvent]
) -> tuple[dict[RunId, RunLineage], Sequence[ClaimsEvent]]:
    """Returns the runs of these events as they are afterwards, and the events as they count."""
    of_runs = [event for event in events if event.state]
    if not of_runs:
        return {}, events
    rows = connection.execute(query("runs/by_id"), run_columns({run_id(event): None for event in of_runs})).fetchall()
    known = {(tenant, job, run): RunLineage.of(*stored) for tenant, job, run, *stored in rows}
    runs, counting = add_events(known, events)
    values = {
        "states": [run.state for run in runs.values()],
        "completed": [run.completed_at for run in runs.values()],
        "started": [_time(run.first_at) for run in runs.values()],
        "ended": [_time(run.ended_at) for run in runs.values()],
        "updated": [_time(run.last_at) for run in runs.values()],
        "lineages": orjson.dumps([run.as_document() for run in runs.values()]).decode(),
        "facets": orjson.dumps([run.facets for run in runs.values()]).decode(),
    }
    connection.execute(query("runs/upsert"), run_columns(runs) | values)
    _prune(connection, [run for run in runs if run not in known])
    return runs, counting


def _prune(connection: psycopg.Connection[Any], new: Sequence[RunId]) -> None:
    """Deletes all but the newest runs of the jobs that have new ones."""
    jobs = list(dict.fromkeys((tenant, job) for tenant, job, _ in new))
    if jobs:
        given = {"tenants": [tenant for tenant, _ in jobs], "jobs": [job for _, job in jobs], "keep": KEPT_RUNS}
        connection.execute(query("runs/prune"), given)


def _time(clock: str | None) -> str | None:
    return None if clock is None else clock.partition("/")[0]


def run_columns(runs: Mapping[RunId, Any]) -> dict[str, Any]:
    return {
        "tenants": id_array(tenant for tenant, _, _ in runs),
        "jobs": id_array(job for _, job, _ in runs),
        "runs": [run for _, _, run in runs],
    }
