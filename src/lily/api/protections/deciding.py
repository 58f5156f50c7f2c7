"""Confirms or undoes what is pending: audits it, and appends statements with authority to the log."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Call
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.records import Record, asset_record, lineage_record
from lily.api.protections.listing import visible_items
from lily.api.receipts.settling import Settlement
from lily.lineage.edge_state import EdgeState
from lily.lineage.pending import PendingId, ReviewedId, parse_reviewed_id
from lily.lineage.pending_decisions import (
    Author,
    DecidedEvent,
    Decision,
    HoldingAsset,
    asset_events,
    comes_too_early,
    edge_events,
    parents_ended_with,
)
from lily.lineage.tag_rules import TagRules
from lily.model import clock
from lily.model.assets import entity_type
from lily.model.edges import EdgeKey
from lily.model.events import AssetEvent
from lily.model.lanes import BULK_TYPES
from lily.observe import traces
from lily.store.assets import StoredAsset
from lily.store.postgres.edges.reader import read_edges
from lily.store.postgres.protection.decided import record_decisions
from lily.store.postgres.protection.pending import PendingItem, find_pending

Outcome = Literal["confirmed", "undone", "denied", "not_found", "needs_others", "too_early"]
_OF_EDGES = frozenset({"edge", "claim"})
DONE: Mapping[Decision, Literal["confirmed", "undone"]] = {"confirm": "confirmed", "undo": "undone"}


class Decided(NamedTuple):
    outcomes: dict[str, Outcome]  # by the id that was given
    settlement: Settlement | None  # None if nothing was decided


async def decide(call: Call, given: Sequence[str], decision: Decision) -> Decided:
    """What a policy denies to the caller is not decided. Raises LogFull or LogUnavailable if the log does not confirm
    all statements; repeating the decision is harmless."""
    call.require("policy:write", "deciding about what is pending", "/protections/pending")
    append = LogAppend(call)
    ids = {one: parsed for one in given if (parsed := _parsed(one)) is not None}
    rules = await call.services.tag_rules.get(call.tenant)
    # Before what is pending: what changes in between then makes another item, and is not decided.
    assets = await _assets(call, [one.item for one in ids.values()])
    edges = await _edges(call, [one.item for one in ids.values()])
    pending = await find_pending(call.services.database, call.tenant, rules, [one.item for one in ids.values()])
    visible = await visible_items(call, unchanged(pending, ids.values()))
    denied = await denied_references(call, "WRITE", {asset for item in visible for asset in item.id.assets})
    decided = [item for item in visible if denied.keys().isdisjoint(item.id.assets)]
    by_id: dict[ReviewedId, Outcome] = {item.reviewed: "denied" for item in visible}
    if decision == "confirm":
        tied = await _tied(call, rules, decided, assets)
        by_id |= {item.reviewed: "needs_others" for item in tied}
        decided = [item for item in decided if item not in tied]
    author = Author(call.tenant, call.principal.name, clock.now(), call.correlation, traces.traceparent())
    events = _events(author, rules, decided, Known(assets, edges), decision)
    by_id |= {item.reviewed: DONE[decision] if events[item] else "not_found" for item in decided}
    if decision == "confirm":
        early = [item for item in decided if comes_too_early(events[item], author)]
        by_id |= {item.reviewed: "too_early" for item in early}
        decided = [item for item in decided if item not in early]
        events = {item: events[item] for item in decided}
    outcomes = {one: by_id.get(ids[one], "not_found") if one in ids else "not_found" for one in given}
    if not any(events.values()):
        return Decided(outcomes, None)
    done = [item for item in decided if events[item]]
    await record_decisions(call.services.database, call.principal, done, DONE[decision], call.correlation)
    await append.add(_record(event) for item in done for event in events[item])
    call.services.metrics.protection_reviews[DONE[decision]].inc(len(done))
    return Decided(outcomes, await append.settle())


def unchanged(pending: Sequence[PendingItem], reviewed: Collection[ReviewedId]) -> list[PendingItem]:
    """The items that are as they were when they were reviewed. What has changed since is another one: nobody has seen
    what confirming it would end."""
    return [item for item in pending if item.reviewed in reviewed]


class Known(NamedTuple):
    """The state from which the statements of a decision are made."""

    assets: Mapping[str, StoredAsset]
    edges: Mapping[EdgeKey, EdgeState]


async def _assets(call: Call, items: Sequence[PendingId]) -> Mapping[str, StoredAsset]:
    named = sorted({asset for item in items if item.kind not in _OF_EDGES for asset in item.assets})
    return await call.services.catalogue.find_many(call.tenant, named) if named else {}


async def _edges(call: Call, items: Sequence[PendingId]) -> Mapping[EdgeKey, EdgeState]:
    keys = {item.edge for item in items if item.kind in _OF_EDGES}
    return await read_edges(call.services.database, call.tenant, list(keys)) if keys else {}


async def _tied(
    call: Call, rules: TagRules, items: Sequence[PendingItem], assets: Mapping[str, StoredAsset]
) -> set[PendingItem]:
    """The parents whose end cannot be confirmed alone: other items that are pending would end with them, and are not
    among those that the caller confirms."""
    ended_with: dict[PendingItem, list[PendingId]] = {}
    for item in items:
        if item.id.kind == "parent" and item.id.keys[0] in assets:
            child, parent = item.id.keys
            others = parents_ended_with(assets[child].layers, parent)
            ended_with[item] = [PendingId("parent", (child, other)) for other in others]
    decided = {item.id for item in items}
    beside = {one for ones in ended_with.values() for one in ones if one not in decided}
    if not beside:
        return set()
    pending = {item.id for item in await find_pending(call.services.database, call.tenant, rules, sorted(beside))}
    return {item for item, ones in ended_with.items() if not pending.isdisjoint(ones)}


def _events(
    author: Author, rules: TagRules, items: Sequence[PendingItem], known: Known, decision: Decision
) -> dict[PendingItem, list[DecidedEvent]]:
    """None for what has changed meanwhile so that nothing is held."""
    events: dict[PendingItem, list[DecidedEvent]] = {item: [] for item in items}
    for item in items:
        one = item.id
        if one.kind in _OF_EDGES:
            events[item] = edge_events(
                one, decision, known.edges[one.edge], author, item.held_at, ended_at=item.ended_at or ""
            )
        elif one.keys[0] in known.assets:
            events[item] = asset_events(one, decision, _holding(one, known.assets, rules), author)
    return events


def _holding(one: PendingId, assets: Mapping[str, StoredAsset], rules: TagRules) -> HoldingAsset:
    asset = assets[one.keys[0]]
    # A column may be in the lake alone. Its first change in PostgreSQL is announced with the type that is known here.
    kind = entity_type(asset.layers)
    parent = assets.get(one.keys[1]) if one.kind == "parent" else None
    return HoldingAsset(
        asset.qualified_name,
        kind if kind in BULK_TYPES else None,
        asset.layers,
        rules.name(one.keys[1], one.keys[1]) if one.kind == "tag" else "",
        parent.qualified_name if parent else "",
    )


def _record(event: DecidedEvent) -> Record:
    # Undoing a move is a plain statement of the parent, which usually changes nothing: this one does.
    return asset_record(event)._replace(propagates=True) if isinstance(event, AssetEvent) else lineage_record(event)


def _parsed(given: str) -> ReviewedId | None:
    try:
        return parse_reviewed_id(given)
    except ValueError:
        return None
