"""Appends statements about edges to the log, and answers: at once, or when they can be read."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.api.calls import Call
from lily.api.http.responses import Json
from lily.api.ingest.appends import Appends, edges_entry
from lily.api.ingest.writes import receipt_headers, settled
from lily.api.receipts.receipt import standing
from lily.bus import topics
from lily.bus.producer import Position
from lily.lineage.edge_protection import EdgeState, describe, edge_name, may_stop_tags
from lily.model.edges import EdgeEvent, EdgeKey
from lily.model.errors import Problem
from lily.store.postgres.edges.reader import read_edges, read_edges_with_tags
from lily.store.postgres.outbox.dead_letters import errors_at

GROUP = 100  # events that are confirmed together
MOST_ERRORS = 100


async def guard(call: Call, events: Sequence[EdgeEvent]) -> None:
    """Raises Declined with 403 where an event would take a protective tag away and the caller may not. The pipeline
    looks again, at what is true then."""
    suspects = [] if call.principal.may("policy:write") else [e for e in events if may_stop_tags(e.statement)]
    keys = [event.statement.key for event in suspects]
    states = await read_edges_with_tags(call.services.database, call.tenant, keys)
    for event in suspects:
        edge = states.get(event.statement.key)
        effect = edge.effect_of(event) if edge else None
        if effect:
            call.require("policy:write", describe(effect), edge_name(event.statement.key))


async def missing(call: Call, events: Sequence[EdgeEvent]) -> list[Problem]:
    """The edges that there are not, or that are deleted already."""
    keys = [event.statement.key for event in events]
    found = await read_edges(call.services.database, call.tenant, keys)
    absent = [key for key in keys if key not in found or found[key].effective.is_deleted]
    return [Problem("NOT_FOUND", "there is no such edge", edge_name(key)) for key in absent[:MOST_ERRORS]]


async def write_edges(call: Call, events: Sequence[EdgeEvent]) -> Json:
    """Raises LogFull or LogUnavailable if the log does not take them all; then repeating the whole is harmless."""
    wait = call.wait()
    appends = Appends(call)
    for start in range(0, len(events), GROUP):
        await appends.add(map(edges_entry, events[start : start + GROUP]))
    receipt = await appends.confirmed()
    applied = await settled(call, receipt, wait)
    headers = receipt_headers(call, receipt, wait, applied=applied)
    edges = [
        {"from": key.from_id, "to": key.to_id, "relationship_type": key.type}
        for key in (event.statement.key for event in events)
    ]
    accepted: dict[str, Any] = {"status": "success", "accepted": len(events), "edges": edges}
    return await _told(call, events, appends.positions, accepted, headers) if applied else Json(accepted, 202, headers)


async def _told(
    call: Call,
    events: Sequence[EdgeEvent],
    positions: Sequence[Position],
    accepted: dict[str, Any],
    headers: dict[str, str],
) -> Json:
    """The answer to a write that has been applied: what was refused, or whether something newer had already won."""
    places = [(at.partition, at.offset) for at in positions]
    database, tenant = call.services.database, call.tenant
    errors = await errors_at(database, tenant, topics.LINEAGE_INTAKE, places, MOST_ERRORS)
    if errors:
        return Json({"errors": errors}, 422, headers)
    stored = await read_edges(database, tenant, [event.statement.key for event in events])
    superseded = any(not _stands(event, stored) for event in events)
    return Json({**accepted, "superseded": superseded}, 200, headers)


def _stands(event: EdgeEvent, stored: Mapping[EdgeKey, EdgeState]) -> bool:
    edge = stored.get(event.statement.key)
    layer = edge.layers.get(event.statement.layer) if edge else None
    return layer is not None and standing(layer, event.clock) == standing(event.layer(), event.clock)
