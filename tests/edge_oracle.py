"""What statements about edges amount to, computed from all of them at once, in the order of their clocks.

It knows no layers that are merged, no claims that are stored and nothing that is held: for what an edge conducts it
leaves out what closes the edge without authority, and looks at everything else.
"""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hypothesis import strategies as st

from lily.model.edges import EDGE_LAYERS, Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeOperation, EdgeStatement

Event = EdgeEvent | ClaimsEvent
Shown = tuple[bool, bool, bool]  # propagates, masking, is_deleted

ASSETS = [str(uuid.UUID(int=number)) for number in range(3)]
JOBS = [str(uuid.UUID(int=number)) for number in range(90, 92)]
KEYS = [EdgeKey(ASSETS[0], ASSETS[1], "derived-from"), EdgeKey(ASSETS[1], ASSETS[2], "used-in")]
TIMES = st.integers(0, 7).map(lambda tick: f"2026-01-01T00:00:0{tick}.000000Z")
IDS = st.integers(0, 2**128 - 1).map(lambda number: str(uuid.UUID(int=number)))
SETTINGS = st.fixed_dictionaries({}, optional=dict.fromkeys(("propagates", "masking"), st.none() | st.booleans()))
NOBODY, ANYBODY, EVERYBODY = st.just(value=False), st.booleans(), st.just(value=True)  # who has authority


@st.composite
def edge_events(
    draw: st.DrawFn, authority: st.SearchStrategy[bool] = ANYBODY, keys: Sequence[EdgeKey] = KEYS
) -> EdgeEvent:
    layer = draw(st.sampled_from(EDGE_LAYERS))
    operation: EdgeOperation = "delete" if draw(st.integers(0, 2)) == 0 else "upsert"
    key = draw(st.sampled_from(keys))
    statement = EdgeStatement(layer, operation, key, draw(SETTINGS), "me", draw(authority))
    return EdgeEvent(draw(IDS), draw(TIMES), "default", statement)


@st.composite
def claims_events(draw: st.DrawFn, authority: st.SearchStrategy[bool] = ANYBODY) -> ClaimsEvent:
    claims = st.builds(Claim, st.sampled_from(KEYS), st.booleans(), st.just(False))
    return ClaimsEvent(
        draw(IDS),
        draw(TIMES),
        "default",
        draw(st.sampled_from(JOBS)),
        draw(st.sampled_from(["r1", "r2", "r3"])),
        draw(st.booleans()),
        tuple(draw(st.lists(claims, max_size=3, unique_by=lambda claim: claim.key))),
        "me",
        draw(authority),
    )


def all_events(authority: st.SearchStrategy[bool] = ANYBODY) -> st.SearchStrategy[list[Event]]:
    either = edge_events(authority) | claims_events(authority)
    return st.lists(either, min_size=1, max_size=12, unique_by=lambda event: event.id)


def for_tenant(tenant: str, event: Event) -> Event:
    return replace(event, tenant=tenant)


def shown(events: Sequence[Event]) -> dict[EdgeKey, Shown]:
    """The edges that are there."""
    once = in_order(events)
    layers: dict[tuple[EdgeKey, str], dict[str, Any]] = {}
    for event in once:
        if isinstance(event, EdgeEvent):
            layer = layers.setdefault((event.statement.key, event.statement.layer), {})
            layer |= event.statement.settings | {"deleted": event.statement.operation == "delete"}
    claims = claims_on(once)
    found = {
        key: _shown(_stated(layers, key, "source"), _stated(layers, key, "user"), claims[key].live) for key in KEYS
    }
    return {key: state for key, state in found.items() if not state[2]}


def conduction(
    events: Sequence[Event], keys: Sequence[EdgeKey] = KEYS, jobs: Sequence[str] = JOBS
) -> dict[EdgeKey, int]:
    """For each edge: 0 nothing passes it, 1 what masking does not stop, 2 everything."""
    once = in_order(events)
    claims = claims_on(once, keys, jobs)
    return {key: _conduction(_counting(once, key, "user"), _counting(once, key, "source"), claims[key]) for key in keys}


def in_order(events: Sequence[Event]) -> list[Event]:
    return sorted({event.id: event for event in events}.values(), key=lambda event: (event.time, event.id))


def _stated(layers: dict[tuple[EdgeKey, str], dict[str, Any]], key: EdgeKey, name: str) -> dict[str, Any]:
    return {field: value for field, value in layers.get((key, name), {}).items() if value is not None}


def _shown(source: dict[str, Any], user: dict[str, Any], claims: list[tuple[bool, bool]]) -> Shown:
    from_source = not source.get("deleted", True)
    masking = [source.get("masking", False)] if from_source or not claims else []
    return (
        user.get("propagates", source.get("propagates", True)),
        user.get("masking", all(masking + [masked for masked, _ in claims])),
        user.get("deleted", not from_source and not claims),
    )


class Claimed(NamedTuple):
    live: list[tuple[bool, bool]]  # of each: whether it masks the edge, and whether it has authority
    held: set[bool]  # whether they mask: of claims that ended after the job's last completion with authority


def claims_on(
    events: Sequence[Event], keys: Sequence[EdgeKey] = KEYS, jobs: Sequence[str] = JOBS
) -> dict[EdgeKey, Claimed]:
    claims = [event for event in events if isinstance(event, ClaimsEvent)]
    found = {key: Claimed([], set()) for key in keys}
    for key in keys:
        for job in jobs:
            _add_claims(found[key], key, [event for event in claims if event.job_id == job])
    return found


def _add_claims(found: Claimed, key: EdgeKey, of_job: list[ClaimsEvent]) -> None:
    """A claim ends when another run completes after it."""
    completing = [event for event in of_job if event.complete and event.claims]
    decided = max((event.clock for event in completing if event.authorised), default="")
    claims = [(event, masking) for event in of_job for claimed, masking, _ in event.claims if claimed == key]
    newest = {event.run: (event, masking) for event, masking in claims}
    live = [
        (masking, event.authorised)
        for event, masking in newest.values()
        if not any(other.run != event.run and other.clock > event.clock for other in completing)
    ]
    found.live.extend(live)
    clear = any(not masking for masking, _ in live)
    for event, masking in claims:
        replaced = not live if masking else not clear
        if event.clock >= decided and replaced:
            found.held.add(masking)


def _counting(events: Sequence[Event], key: EdgeKey, layer: str) -> dict[str, Any]:
    """What a layer states, without what closes the edge and lacks authority. A setting that is cleared without
    authority counts as opened."""
    found: dict[str, Any] = {}
    for event in events:
        if not isinstance(event, EdgeEvent) or (event.statement.key, event.statement.layer) != (key, layer):
            continue
        statement, decides = event.statement, event.statement.authorised
        deleted, settings = statement.operation == "delete", statement.settings
        if decides or not deleted:
            found["deleted"] = deleted
        if "propagates" in settings and (decides or settings["propagates"] is not False):
            found["propagates"] = settings["propagates"] if decides else True
        if "masking" in settings and (decides or settings["masking"] is not True):
            found["masking"] = settings["masking"] if decides else False
        if not deleted and "masking" not in settings:
            found.setdefault("masking", None)
    always_masked = "masking" not in found and found.get("deleted") is False
    return {name: value for name, value in found.items() if value is not None} | {"always_masked": always_masked}


def _conduction(user: dict[str, Any], source: dict[str, Any], claims: Claimed) -> int:
    by_source, by_claims = source.get("deleted") is False, bool(claims.live or claims.held)
    exists = not user["deleted"] if "deleted" in user else by_source or by_claims
    if not exists or not user.get("propagates", source.get("propagates", True)):
        return 0
    if "masking" in user:
        return 1 if user["masking"] else 2
    open_source = by_source and not source.get("masking", source["always_masked"])
    open_claim = False in claims.held or any(not masking for masking, _ in claims.live)
    # Whoever states the edge beside the person masks it, and has the authority to.
    masked = source.get("masking", False) if by_source or not by_claims else True
    masked = masked and not claims.held and all(masking and decides for masking, decides in claims.live)
    open_person = user.get("deleted") is False and not user["always_masked"] and not masked
    return 2 if open_source or open_claim or open_person else 1
