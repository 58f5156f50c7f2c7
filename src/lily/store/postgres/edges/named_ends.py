"""Stores the names by which edges name assets that are not in the catalogue."""

from collections.abc import Iterable, Iterator
from typing import Any

import psycopg

from lily.model import ids
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.store.postgres.queries import query


def name_ends(connection: psycopg.Connection[Any], events: Iterable[EdgeEvent | ClaimsEvent]) -> None:
    """Runs in the transaction that merges the edges. A name counts for an end of an edge of its own event only."""
    named = {(tenant, asset): (name, time) for tenant, asset, name, time in _ends(events)}
    if not named:
        return
    given = {
        "tenants": [tenant for tenant, _ in named],
        "ids": [asset for _, asset in named],
        "names": [name for name, _ in named.values()],
        "times": [time for _, time in named.values()],
    }
    connection.execute(query("edges/name_ends"), given)


def _ends(events: Iterable[EdgeEvent | ClaimsEvent]) -> Iterator[tuple[str, str, str, str]]:
    for event in events:
        if isinstance(event, EdgeEvent):
            names, keys = event.statement.names, [event.statement.key]
        else:
            names, keys = event.names, [claim.key for claim in event.claims] if event.names else []
        ends = {end for key in keys for end in key[:2]} if names else ()
        for name in names:
            asset = ids.asset_id(event.tenant, name)
            if asset in ends:
                yield event.tenant, asset, name, event.time
