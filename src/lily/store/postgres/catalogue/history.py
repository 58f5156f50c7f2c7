"""The changes of an asset, and the outcome of one event."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from lily.model.assets import LayerName
from lily.model.layers import Layer
from lily.store.postgres.outbox.batches import Change
from lily.store.postgres.queries import layer_query, query
from lily.store.postgres.sessions import Database


class Archived(NamedTuple):
    """What of an asset's history has left PostgreSQL: changes up to a time. `later_events` made those that are left."""

    until: datetime
    later_events: frozenset[str]


class LaterChanges(NamedTuple):
    """What has changed of an asset since a time. Times are those of events; None if nothing has changed."""

    are_archived: bool  # some of the changes have left PostgreSQL
    before: dict[LayerName, dict[str, Any] | None]  # the values then, of the layers that have changed; None: it was new
    are_promoted: bool  # some of what the lake had then came to PostgreSQL since
    first_event: str | None
    version: int | None  # then; 0 if the asset was not in PostgreSQL
    last_event: str | None  # of the changes until then, as far as they are here


@dataclass(frozen=True, slots=True)
class EventOutcome:
    """The layer that an event stated as it is now, the errors if the pipeline refused the event, and when either
    happened."""

    layer: Layer | None
    errors: list[dict[str, str]] | None
    at: datetime | None


async def changes_of(database: Database, tenant: str, asset_id: str, *, below: int | None, limit: int) -> list[Change]:
    parameters = {"id": asset_id, "below": below, "limit": limit}
    return [Change(*row) for row in await database.fetch(tenant, query("catalogue/history"), parameters)]


async def archived_changes(database: Database, tenant: str, asset_id: str) -> Archived | None:
    """None if the whole history of the asset is in PostgreSQL."""
    rows = await database.fetch(tenant, query("catalogue/archived"), {"id": asset_id})
    return Archived(rows[0][0], frozenset(rows[0][1])) if rows else None


async def ended_tags(
    database: Database, tenant: str, asset_id: str, held: Sequence[tuple[LayerName, str]]
) -> dict[tuple[str, str], dict[str, str]]:
    """Of tags that layers hold: who ended each, and when, as far as the history goes."""
    parameters = {"id": asset_id, "layers": [layer for layer, _ in held], "tags": [tag for _, tag in held]}
    rows = await database.fetch(tenant, query("catalogue/ended_tags"), parameters)
    return {(layer, tag): cause for layer, tag, cause in rows if cause}


async def event_outcome(
    database: Database,
    tenant: str,
    *,
    asset_id: str,
    layer: LayerName,
    event_id: str,
    topic: str,
    partition: int,
    offset: int,
) -> EventOutcome:
    parameters = {
        "id": asset_id,
        "layer": layer,
        "event": event_id,
        "topic": topic,
        "partition": partition,
        "offset": offset,
    }
    statement = layer_query("catalogue/event_outcome", layer)
    ((fields, at, clocks, errors, when),) = await database.fetch(tenant, statement, parameters)
    return EventOutcome(None if fields is None else Layer(fields, at, clocks), errors, when)


async def changes_after(database: Database, tenant: str, asset_id: str, time: str) -> LaterChanges:
    (row,) = await database.fetch(tenant, query("catalogue/changes_after"), {"id": asset_id, "time": time})
    return LaterChanges(*row)
