"""How far what was written has travelled: published to the change log, read from there, propagated."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lily.model.assets import LayerName
from lily.store.postgres.propagation.propagator import PROGRESS
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

Place = tuple[str, int, int]  # topic, partition, offset


@dataclass(frozen=True, slots=True)
class Travel:
    reached: int
    depth: int
    at: datetime | None
    started: datetime | None = None


async def to_follow(database: Database, places: Sequence[Place]) -> list[Place] | None:
    """What propagation must have read so that everything applied from these places of the log has travelled, as places
    that `applied` tells about; None while some of it is not even published."""
    (found,) = await all_to_follow(database, [places])
    return found


async def all_to_follow(database: Database, writes: Sequence[Sequence[Place]]) -> list[list[Place] | None]:
    """The same for many writes, with one query."""
    asked = [(number, *place) for number, write in enumerate(writes) for place in write]
    numbers, topics, partitions, offsets = map(list, zip(*asked, strict=True)) if asked else ([], [], [], [])
    parameters = {"writes": numbers, "topics": topics, "partitions": partitions, "offsets": offsets}
    batches: defaultdict[int, list[Row]] = defaultdict(list)
    for number, *batch in await database.fetch(None, query("progress/travelled"), parameters):
        batches[number].append(tuple(batch))
    return [_ends(batches[number]) for number in range(len(writes))]


async def decision_to_follow(database: Database, tenant: str) -> list[Place] | None:
    """The same for what the tenant's administrators decided last."""
    return _ends(await database.fetch(tenant, query("progress/decision_travelled"), {}))


def _ends(rows: Sequence[Row]) -> list[Place] | None:
    if not all(published for published, _ in rows):
        return None
    return [
        (topic + PROGRESS, int(partition), int(end) - 1)
        for _, ends in rows
        for topic, partitions in (ends or {}).items()
        for partition, end in partitions.items()
        if int(end) > 0
    ]


async def travel_of(database: Database, tenant: str, asset_id: str, layer: LayerName, event_id: str) -> Travel:
    """What one statement about an asset reached."""
    asked = {"id": asset_id, "layer": layer, "event": event_id}
    ((reached, depth, at),) = await database.fetch(tenant, query("progress/receipt"), asked)
    return Travel(reached, depth, at)


async def travel_of_write(database: Database, tenant: str, correlation: str) -> Travel:
    """What the many statements of a write reached together."""
    ((reached, depth, at, started),) = await database.fetch(
        tenant, query("progress/receipt_of_write"), {"correlation": correlation}
    )
    return Travel(reached, depth, at, started)
