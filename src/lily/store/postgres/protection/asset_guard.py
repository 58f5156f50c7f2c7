"""The pipeline's guard: no event takes a protective tag away unless whoever stated it may, and then it leaves a trace.

A batch is judged before it is merged, in the same transaction. Most events cannot cost a tag, by what they are, and of
those that could, most speak about assets that have none to lose: one query tells the others.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from lily.lineage.protection import may_remove_protection, merge_event, no_longer_inherited, removed_tags
from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import (
    LAYERS,
    NO_DERIVED_TAGS,
    PARENT_ID,
    DerivedTags,
    LayerName,
    is_deleted,
    parent_id,
    suppressions,
    tag_key,
)
from lily.model.errors import Problem
from lily.model.events import AssetEvent
from lily.model.layers import TAGS, Layer
from lily.model.records import Record, Refusal
from lily.store.postgres.catalogue.asset_rows import derived_tags_of
from lily.store.postgres.definitions.tags import definition_of
from lily.store.postgres.queries import query

REMEMBERED_SECONDS = 2.0  # a tag that begins to propagate is guarded from then on, at the latest
_NONE: frozenset[str] = frozenset()
REMOVED, HIDDEN = "tag.removed", "tag.suppressed"

Pair = tuple[Record, AssetEvent]
Key = tuple[str, str]  # tenant and asset
Layers = dict[LayerName, Layer]


class Trace(NamedTuple):
    """An entry of the audit: who took what away from which asset."""

    tenant: str
    principal: str
    action: str
    entity: str
    detail: dict[str, Any]


class Judgement(NamedTuple):
    allowed: list[Pair]
    refused: list[Refusal]
    traces: list[Trace]


class _Loss(NamedTuple):
    action: str
    tags: list[str]
    layer: str  # where they stood: a layer, or how they had come


@dataclass(slots=True)
class _Known:
    """What the store holds about the assets at stake."""

    layers: dict[Key, Layers] = field(default_factory=dict)
    arrived: dict[Key, DerivedTags] = field(default_factory=dict)  # what reached an asset
    below: dict[Key, DerivedTags] = field(default_factory=dict)  # what comes down from a parent
    conducted: dict[Key, list[str]] = field(default_factory=dict)


class Guard:
    """Keeps what tenants have decided for a moment, and nothing else. Raises what the connection raises."""

    def __init__(self) -> None:
        self._rules: dict[str, tuple[TagRules, float]] = {}

    def judge(self, connection: psycopg.Connection, events: Sequence[Pair]) -> Judgement:
        suspects = [event for _, event in events if may_remove_protection(event.statement)]
        if not suspects:
            return Judgement(list(events), [], [])
        tenants = {event.tenant for event in suspects}
        rules = {tenant: self._rules_of(connection, tenant) for tenant in tenants}
        said = {tenant: _Said(rules[tenant]) for tenant in tenants}
        for event in suspects:
            said[event.tenant].note(event)
        for _, event in events:
            if event.statement.operation == "tag" and event.tenant in said:
                said[event.tenant].note_tag(event)
        known = _Known()
        for tenant in tenants:
            _look(connection, tenant, rules[tenant], said[tenant], known)
        if not known.layers:
            return Judgement(list(events), [], [])
        _look_around(connection, rules, [event for event in suspects if _key(event) in known.layers], known)
        verdict = Judgement([], [], [])
        for record, event in events:
            _judge(verdict, known, rules, record, event)
        return verdict

    @staticmethod
    def record(connection: psycopg.Connection, traces: Iterable[Trace]) -> None:
        """Writes what was judged lawful, in the transaction in which it happens."""
        rows = [{**trace._asdict(), "detail": Jsonb(trace.detail)} for trace in traces]
        if rows:
            connection.cursor().executemany(query("protection/record_asset_audit"), rows)

    def _rules_of(self, connection: psycopg.Connection, tenant: str) -> TagRules:
        known = self._rules.get(tenant)
        if known is None or known[1] < time.monotonic():
            rows = connection.execute(query("protection/guard_rules"), {"tenant": tenant}).fetchall()
            definitions = {row[1]: definition_of(row[1:]) for row in rows if row[1] is not None}
            rules = TagRules(definitions, rows[0][0]) if rows else TagRules()
            known = self._rules[tenant] = (rules, time.monotonic() + REMEMBERED_SECONDS)
        return known[0]


class _Said:
    """What the suspects of one tenant say, as far as it tells without the store what may be lost."""

    def __init__(self, rules: TagRules) -> None:
        self.at_stake: set[str] = set()  # assets about which the batch itself gives reason to look closer
        self.kept: dict[str, frozenset[str]] = {}  # by asset: the protective tags that its list of tags still has
        self.parents: dict[str, str | None] = {}  # by asset: empty where it has none any more, None where none is said
        self._rules = rules

    def note(self, event: AssetEvent) -> None:
        asset, statement = event.asset_id, event.statement
        if statement.operation in {"untag", "suppress"} or (
            statement.operation == "delete" and self._rules.cut_deleted
        ):
            self.at_stake.add(asset)
        if TAGS in statement.attributes:
            tags = statement.attributes[TAGS]
            kept = self._rules.protective.intersection(map(tag_key, tags)) if tags else _NONE
            if self.kept.setdefault(asset, kept) != kept:
                self.at_stake.add(asset)
        parent = (_stated_parent(event) or "") if "parent" in statement.attributes else None
        known = self.parents.setdefault(asset, parent)
        if known is None:
            self.parents[asset] = parent
        elif parent is not None and parent != known:
            self.at_stake.add(asset)

    def note_tag(self, event: AssetEvent) -> None:
        """One event puts a tag on, and another one of the batch may take it away."""
        if event.asset_id in self.parents:
            self.at_stake.add(event.asset_id)


def _look(connection: psycopg.Connection, tenant: str, rules: TagRules, said: _Said, known: _Known) -> None:
    """Finds the assets that have something to lose, and reads their layers."""
    asked = {
        "tenant": tenant,
        "ids": "{" + ",".join(said.parents) + "}",
        "parents": "{" + ",".join("null" if one is None else one or '""' for one in said.parents.values()) + "}",
        "tags": rules.protective_array,
    }
    at_stake = said.at_stake
    for asset, stated, parent in connection.execute(query("protection/guarded"), asked):
        stands = rules.protective.intersection(stated)
        if not stands <= said.kept.get(asset, stands) or said.parents[asset] not in (None, parent):
            at_stake.add(asset)
    if not at_stake:
        return
    # What is stored nowhere yet may be tagged by one event of the batch and untagged by the next.
    known.layers |= {(tenant, asset): {} for asset in at_stake}
    rows = connection.execute(query("protection/guarded_layers"), {"tenant": tenant, "ids": sorted(at_stake)})
    for asset, *parts in rows:
        known.layers[tenant, asset] = {
            name: Layer(*parts[3 * place : 3 * place + 3])
            for place, name in enumerate(LAYERS)
            if parts[3 * place] is not None
        }


def _look_around(
    connection: psycopg.Connection, rules: dict[str, TagRules], suspects: list[AssetEvent], known: _Known
) -> None:
    """Asks what comes down from the parents before and after, and what others have through those that are deleted."""
    moved: defaultdict[str, set[str]] = defaultdict(set)
    parents: defaultdict[str, set[str]] = defaultdict(set)
    deleted: defaultdict[str, set[str]] = defaultdict(set)
    for event in suspects:
        if "parent" in event.statement.attributes:
            moved[event.tenant].add(event.asset_id)
            parents[event.tenant] |= _parents(known.layers[_key(event)], event)
        if event.statement.operation == "delete" and rules[event.tenant].cut_deleted:
            deleted[event.tenant].add(event.asset_id)
    for tenant, concerned in moved.items():
        assets, above = sorted(concerned), sorted(parents[tenant])
        known.arrived |= _reached(connection, tenant, rules[tenant], assets, [None] * len(assets))
        # Each is asked for as if it were its own child.
        known.below |= _reached(connection, tenant, rules[tenant], above, [*above])
    for tenant, concerned in deleted.items():
        asked = {"tenant": tenant, "ids": sorted(concerned), "tags": rules[tenant].protective_array}
        for asset_id, tag in connection.execute(query("protection/guard_conducting"), asked):
            known.conducted.setdefault((tenant, asset_id), []).append(tag)


def _judge(verdict: Judgement, known: _Known, rules: dict[str, TagRules], record: Record, event: AssetEvent) -> None:
    before = known.layers.get(_key(event))
    if before is None:
        verdict.allowed.append((record, event))
        return
    after = merge_event(before, event)
    losses = _losses(known, rules[event.tenant], event, before, after) if event.tenant in rules else []
    statement = event.statement
    if losses and not statement.authorised:
        tags = sorted({tag for loss in losses for tag in loss.tags})
        names = ", ".join(rules[event.tenant].named(tags).values())
        says = f"taking the protective tag {names} away needs the scope policy:write"
        problem = Problem("PROTECTED", says, statement.qualified_name)
        verdict.refused.append(Refusal(record, event.tenant, (problem,)))
        return
    verdict.allowed.append((record, event))
    known.layers[_key(event)] = after
    verdict.traces.extend(
        Trace(
            event.tenant,
            statement.by,
            loss.action,
            event.asset_id,
            {"tags": loss.tags, "layer": loss.layer, "event": event.id},
        )
        for loss in losses
    )


def _losses(known: _Known, rules: TagRules, event: AssetEvent, before: Layers, after: Layers) -> list[_Loss]:
    protective, layer, key = rules.protective, event.statement.layer, _key(event)
    losses = [_Loss(REMOVED, removed_tags(before, after, layer, protective), layer)]
    if (old := parent_id(before)) is not None and old != (new := parent_id(after)):
        came = known.below.get((event.tenant, old), NO_DERIVED_TAGS)
        comes = known.below.get((event.tenant, new), NO_DERIVED_TAGS) if new else NO_DERIVED_TAGS
        here = DerivedTags(known.arrived.get(key, NO_DERIVED_TAGS).propagated, comes.inherited)
        losses.append(_Loss(REMOVED, no_longer_inherited(after, came, here, protective), "inherited"))
    hidden = sorted((suppressions(after).keys() - suppressions(before).keys()) & protective)
    losses.append(_Loss(HIDDEN, hidden, layer))
    if rules.cut_deleted and is_deleted(after) and not is_deleted(before):
        losses.append(_Loss(REMOVED, sorted(known.conducted.get(key, ())), "propagated"))
    return [loss for loss in losses if loss.tags]


def _parents(layers: Layers, event: AssetEvent) -> set[str]:
    """Whatever the asset's parent may be before and after."""
    parents = {layer.fields.get(PARENT_ID) for layer in layers.values()} | {_stated_parent(event)}
    return {str(parent) for parent in parents if parent is not None}


def _stated_parent(event: AssetEvent) -> str | None:
    parent = event.statement.attributes.get("parent")
    return None if parent is None else ids.resolve(event.tenant, parent)


def _reached(
    connection: psycopg.Connection, tenant: str, rules: TagRules, assets: list[str], parents: list[str | None]
) -> dict[Key, DerivedTags]:
    """What reaches assets that have these parents."""
    asked = {
        "tenant": tenant,
        "tags": rules.protective_array,
        "cut": rules.cut_deleted,
        "ids": assets,
        "parents": parents,
    }
    rows = connection.execute(query("catalogue/derived_tags"), asked).fetchall()
    return {
        (tenant, asset_id): derived_tags_of(rules, propagated, inherited) for asset_id, propagated, inherited in rows
    }


def _key(event: AssetEvent) -> Key:
    return event.tenant, event.asset_id
