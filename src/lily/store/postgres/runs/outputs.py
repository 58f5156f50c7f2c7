"""Which jobs write a dataset, also where no edge says so."""

from collections.abc import Iterable
from typing import Any

import psycopg

from lily.model.edges import ClaimsEvent
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query


def merge_outputs(connection: psycopg.Connection[Any], events: Iterable[ClaimsEvent]) -> None:
    """All events of a job are in one partition, so no other transaction adds the same rows."""
    found = sorted({(event.tenant, output, event.job_id) for event in events for output in event.datasets.outputs})
    if found:
        given = {
            "tenants": id_array(tenant for tenant, _, _ in found),
            "datasets": id_array(dataset for _, dataset, _ in found),
            "jobs": id_array(job for _, _, job in found),
        }
        connection.execute(query("runs/insert_outputs"), given)
