"""Appends statements about edges to the log, and responds at once or when they can be read."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.api.calls import Call
from lily.api.http.openapi.responses import Json
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.records import lineage_record
from lily.api.receipts.receipt import standing
from lily.bus import topics
from lily.lineage.edge_protection import EdgeState, describe, edge_name, may_stop_tags
from lily.model.edges import EdgeEvent, EdgeKey
from lily.model.errors import Problem
from lily.model.records import Position
from lily.store.postgres.dead_letters.records import errors_at
from lily.store.postgres.edges.reader import read_edges, read_edges_with_tags

MAX_ERRORS = 100


async def guard(call: Call, events: Sequence[EdgeEvent]) -> None:
    """Raises Declined with 403 if an event would end a protective tag and the caller lacks `policy:write`. The pipeline
    checks again, against the state it finds."""
    suspects = [] if call.principal.may("policy:write") else [e for e in events if may_stop_tags(e.statement)]
    keys = [event.statement.key for event in suspects]
    states = await read_edges_with_tags(call.services.database, call.tenant, keys)
    for event in suspects:
        edge = states.get(event.statement.key)
        effect = edge.effect_of(event) if edge else None
        if effect:
            call.require("policy:write", describe(effect), edge_name(event.statement.key))


async def missing(call: Call, events: Sequence[EdgeEvent]) -> list[Problem]:
    """The edges that do not exist, or are already deleted."""
    keys = [event.statement.key for event in events]
    found = await read_edges(call.services.database, call.tenant, keys)
    absent = [key for key in keys if key not in found or found[key].effective.is_deleted]
    return [Problem("NOT_FOUND", "there is no such edge", edge_name(key)) for key in absent[:MAX_ERRORS]]


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
