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
from lily.model.edges import EdgeEvent, EdgeKey
from lily.model.errors import Problem
from lily.store.postgres.edges.state import conducting_edges, refused_at, stored_edges
from lily.store.postgres.protection.conducting_edges import Conducting, Effect, named, takes_away

GROUP = 100  # events that are confirmed together
MOST_ERRORS = 100
_DOING = {"edge.deleted": "deleting", "edge.blocked": "blocking", "edge.masked": "masking"}


async def guard(call: Call, events: Sequence[EdgeEvent]) -> None:
    """Raises Declined with 403 where an event would take a protective tag away and the caller may not. The pipeline
    looks again, at what is true then."""
    suspects = [] if call.principal.may("policy:write") else [e for e in events if takes_away(e.statement)]
    keys = [event.statement.key for event in suspects]
    conducting = await conducting_edges(call.services.database, call.tenant, keys)
    for event in suspects:
        edge = conducting.get(event.statement.key)
        effect: Effect | None = edge.lost_by(event) if edge else None
        if effect:
            why = f"{_DOING[effect]} an edge that a protective tag passes"
            call.require("policy:write", why, named(event.statement.key))


async def missing(call: Call, events: Sequence[EdgeEvent]) -> list[Problem]:
    """The edges that there are not, or that are deleted already."""
    keys = [event.statement.key for event in events]
    found = await stored_edges(call.services.database, call.tenant, keys)
    absent = [key for key in keys if key not in found or found[key].shown.is_deleted]
    return [Problem("NOT_FOUND", "there is no such edge", named(key)) for key in absent[:MOST_ERRORS]]


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
    errors = await refused_at(database, tenant, topics.LINEAGE_INTAKE, places, MOST_ERRORS)
    if errors:
        return Json({"errors": errors}, 422, headers)
    stored = await stored_edges(database, tenant, [event.statement.key for event in events])
    superseded = any(not _stands(event, stored) for event in events)
    return Json({**accepted, "superseded": superseded}, 200, headers)


def _stands(event: EdgeEvent, stored: Mapping[EdgeKey, Conducting]) -> bool:
    edge = stored.get(event.statement.key)
    layer = edge.layers.get(event.statement.layer) if edge else None
    return layer is not None and standing(layer, event.clock) == standing(event.layer(), event.clock)
