"""How far a write has propagated: published to the change log, then read and propagated from there."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lily.model.assets import LayerName
from lily.model.records import Position
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.queries import query
from lily.store.postgres.reactions.ledger import progress_topic
from lily.store.postgres.sessions import Database, Row


@dataclass(frozen=True, slots=True)
class PropagationReceipt:
    """What a write reached: the number of assets that gained or lost a tag, and the distance to the farthest."""

    reached: int
    depth: int
    at: datetime | None
    started: datetime | None = None


async def published_positions(database: Database, applied: Sequence[Position]) -> list[Position] | None:
    """The positions that propagation must have read so that everything applied from the given positions has propagated.
    Their topics are named as in `applied`. None while some of the changes are not published yet."""
    (positions,) = await published_positions_of_writes(database, [applied])
    return positions


async def published_positions_of_writes(
    database: Database, writes: Sequence[Sequence[Position]]
) -> list[list[Position] | None]:
    """The same for many writes, with one query."""
    rows = [(number, *position) for number, write in enumerate(writes) for position in write]
    numbers, topics, partitions, offsets = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
    parameters = {"writes": numbers, "topics": topics, "partitions": partitions, "offsets": offsets}
    batches: defaultdict[int, list[Row]] = defaultdict(list)
    for number, *batch in await database.fetch(None, query("progress/published_ends"), parameters):
        batches[number].append(tuple(batch))
    return [_positions(batches[number]) for number in range(len(writes))]


async def published_positions_of_decision(database: Database, tenant: str) -> list[Position] | None:
    """The same for the last decision of the tenant's administrators."""
    return _positions(await database.fetch(tenant, query("progress/published_ends_of_decision"), {}))


def _positions(rows: Sequence[Row]) -> list[Position] | None:
    if not all(published for published, _ in rows):
        return None
    return [
        Position(progress_topic(topic, PROPAGATION), int(partition), int(end) - 1)
        for _, ends in rows
        for topic, partitions in (ends or {}).items()
        for partition, end in partitions.items()
        if int(end) > 0
    ]


async def propagation_of_event(
    database: Database, tenant: str, asset_id: str, layer: LayerName, event_id: str
) -> PropagationReceipt:
    parameters = {"id": asset_id, "layer": layer, "event": event_id}
    ((reached, depth, at),) = await database.fetch(tenant, query("progress/propagation_of_event"), parameters)
    return PropagationReceipt(reached, depth, at)


async def propagation_of_write(database: Database, tenant: str, correlation: str) -> PropagationReceipt:
    """What all statements of a write reached together."""
    ((reached, depth, at, started),) = await database.fetch(
        tenant, query("progress/propagation_of_write"), {"correlation": correlation}
    )
    return PropagationReceipt(reached, depth, at, started)
