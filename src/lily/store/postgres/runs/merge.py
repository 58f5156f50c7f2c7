"""Adds events to the stored runs. All events of a job are in one partition, so no other transaction has its runs."""

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from lily.lineage.runs import RunId, RunLineage, add_events, run_id
from lily.model.edges import ClaimsEvent
from lily.store.postgres.queries import query


def merge_runs(connection: psycopg.Connection[Any], events: Iterable[ClaimsEvent]) -> dict[RunId, RunLineage]:
    """Returns the runs of these events as they are afterwards."""
    of_runs = [event for event in events if event.state]
    if not of_runs:
        return {}
    rows = connection.execute(query("runs/by_id"), run_columns({run_id(event): None for event in of_runs})).fetchall()
    known = {(tenant, job, run): RunLineage.of(lineage) for tenant, job, run, lineage in rows}
    runs = add_events(known, of_runs)
    values = {
        "states": [run.state for run in runs.values()],
        "completed": [run.completed_at for run in runs.values()],
        "lineages": [Jsonb(run.as_document()) for run in runs.values()],
    }
    connection.execute(query("runs/upsert"), run_columns(runs) | values)
    return runs


def run_columns(runs: Mapping[RunId, Any]) -> dict[str, list[Any]]:
    return {
        "tenants": [tenant for tenant, _, _ in runs],
        "jobs": [job for _, job, _ in runs],
        "runs": [run for _, _, run in runs],
    }
