"""What happened to an asset, and what became of one event."""

from dataclasses import dataclass
from datetime import datetime

from lily.model.assets import LayerName
from lily.model.layers import Layer
from lily.store.postgres.outbox.batches import Change
from lily.store.postgres.queries import layer_query, query
from lily.store.postgres.sessions import Database


@dataclass(frozen=True, slots=True)
class Outcome:
    """The layer an event spoke about as it is now, why the pipeline refused the event, when either happened."""

    layer: Layer | None
    errors: list[dict[str, str]] | None
    at: datetime | None


async def changes_of(database: Database, tenant: str, asset_id: str, *, below: int | None, limit: int) -> list[Change]:
    asked = {"id": asset_id, "below": below, "limit": limit}
    return [Change(*row) for row in await database.fetch(tenant, query("catalogue/history"), asked)]


async def outcome_of(
    database: Database,
    tenant: str,
    *,
    asset_id: str,
    layer: LayerName,
    event_id: str,
    topic: str,
    partition: int,
    offset: int,
) -> Outcome:
    asked = {
        "id": asset_id,
        "layer": layer,
        "event": event_id,
        "topic": topic,
        "partition": partition,
        "offset": offset,
    }
    ((fields, at, clocks, errors, when),) = await database.fetch(tenant, layer_query("catalogue/outcome", layer), asked)
    return Outcome(None if fields is None else Layer(fields, at, clocks), errors, when)


async def changed_after(database: Database, tenant: str, asset_id: str, time: str) -> bool:
    ((changed,),) = await database.fetch(tenant, query("catalogue/changed_after"), {"id": asset_id, "time": time})
    return bool(changed)
