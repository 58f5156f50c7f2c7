"""Facets of events without a run, kept with the job or dataset that the event is about."""

from collections.abc import Iterable
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from lily.lineage.runs import KeptFacets, keep_facets
from lily.model.edges import ClaimsEvent
from lily.store.postgres.queries import query


def merge_design_facets(connection: psycopg.Connection[Any], events: Iterable[ClaimsEvent]) -> None:
    """All events about an asset are in one partition, so no other transaction has its facets."""
    stating = [event for event in events if event.facets and not event.state]
    if not stating:
        return
    assets = list(dict.fromkeys((event.tenant, event.job_id) for event in stating))
    given: dict[str, Any] = {"tenants": [tenant for tenant, _ in assets], "ids": [asset for _, asset in assets]}
    rows = connection.execute(query("runs/design_facets"), given).fetchall()
    kept: dict[tuple[str, str], KeptFacets] = {asset: {} for asset in assets}
    kept |= {(tenant, asset): facets for tenant, asset, facets in rows}
    for event in stating:
        keep_facets(kept[event.tenant, event.job_id], event)
    given["facets"] = [Jsonb(kept[asset]) for asset in assets]
    connection.execute(query("runs/upsert_design_facets"), given)
