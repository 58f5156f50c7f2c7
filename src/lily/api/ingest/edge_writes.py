"""Appends statements about edges to the log, and responds at once or when they can be read."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Call
from lily.api.http.openapi.responses import Json
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.records import lineage_record
from lily.api.receipts.receipt import standing
from lily.bus import topics
from lily.lineage.edge_state import EdgeState, edge_name
from lily.model.edges import EdgeEvent, EdgeKey
from lily.model.errors import Problem
from lily.model.records import Position
from lily.store.postgres.dead_letters.records import errors_at
from lily.store.postgres.edges.reader import read_edges

MAX_ERRORS = 100


async def missing(call: Call, events: Sequence[EdgeEvent]) -> list[Problem]:
    """The edges that do not exist, or are already deleted. To the caller, an edge of an asset that a policy hides from
    it does not exist. A caller with authority ends those that are still held."""
    keys = [event.statement.key for event in events]
    found = await read_edges(call.services.database, call.tenant, keys)
    hidden = await denied_references(call, "READ", {end for key in keys for end in key[:2]})
    decides = call.principal.may("policy:write")
    there = {key for key, edge in found.items() if not edge.effective.is_deleted or (decides and edge.is_held)}
    absent = [key for key in keys if key not in there or _ends_in(key, hidden)]
    return [Problem("NOT_FOUND", "there is no such edge", edge_name(key)) for key in absent[:MAX_ERRORS]]


def _ends_in(key: EdgeKey, assets: Collection[str]) -> bool:
    return key.from_id in assets or key.to_id in assets


async def write_edges(call: Call, events: Sequence[EdgeEvent]) -> Json:
    """Raises LogFull or LogUnavailable if the log does not confirm all of them; repeating the write is harmless."""
    append = LogAppend(call, keep_positions=True)
    await append.add(map(lineage_record, events))
    settlement = await append.settle()
    edges = [
        {"from": key.from_id, "to": key.to_id, "relationship_type": key.type}
        for key in (event.statement.key for event in events)
    ]
    accepted: dict[str, Any] = {"status": "success", "accepted": len(events), "edges": edges}
    if not settlement.applied:
        return Json(accepted, 202, settlement.headers())
    if errors := await _errors(call, append.positions):
        return Json({"errors": errors}, 422, settlement.headers())
    superseded = await _is_superseded(call, events)
    return Json({**accepted, "superseded": superseded}, 200, settlement.headers())


async def _errors(call: Call, positions: Sequence[Position]) -> list[dict[str, Any]]:
    """The errors of the records at these positions that the pipeline refused."""
    offsets = [(at.partition, at.offset) for at in positions]
    return await errors_at(call.services.database, call.tenant, topics.LINEAGE_INTAKE, offsets, MAX_ERRORS)


async def _is_superseded(call: Call, events: Sequence[EdgeEvent]) -> bool:
    """Whether a newer event had already won over one of them."""
    stored = await read_edges(call.services.database, call.tenant, [event.statement.key for event in events])
    return any(not _is_current(event, stored) for event in events)


def _is_current(event: EdgeEvent, stored: Mapping[EdgeKey, EdgeState]) -> bool:
    edge = stored.get(event.statement.key)
    layer = edge.layers.get(event.statement.layer) if edge else None
    return layer is not None and standing(layer, event.clock) == standing(event.layer(), event.clock)
