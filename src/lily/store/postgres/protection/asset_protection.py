"""Refuses events that remove a protective tag from an asset without authorisation, and audits those that may.

A batch is validated before it is merged, in the same transaction. Most events cannot remove a tag by what they are, and
most of the others are about assets without protective tags, which one query per tenant finds out.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import psycopg

from lily.lineage.protection import (
    DerivedContext,
    TagRemoval,
    may_remove_protection,
    merge_event,
    parent_by_name,
    removal_forbidden,
    tag_removals,
)
from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import LAYERS, NO_DERIVED_TAGS, PARENT_ID, DerivedTags, LayerName, tag_key
from lily.model.errors import Problem
from lily.model.events import AssetEvent
from lily.model.layers import TAGS, Layer
from lily.model.records import Record, Refusal
from lily.store.postgres.asset_rows import derived_tags_of
from lily.store.postgres.audit.entries import AuditEntry
from lily.store.postgres.definitions.tags import tag_rules_of
from lily.store.postgres.queries import query

_NONE: frozenset[str] = frozenset()

Pair = tuple[Record, AssetEvent]


class Validation(NamedTuple):
    accepted: list[Pair]
    refused: list[Refusal]
    audit: list[AuditEntry]  # of accepted events that remove protective tags


class AssetProtection:
    """Reads the tag rules with every batch, so that a changed rule applies to the next event, and parses only those
    that changed. Raises what the connection raises."""

    def __init__(self) -> None:
        self._parsed: dict[str, tuple[list[Any], TagRules]] = {}

    def validate(self, connection: psycopg.Connection, events: Sequence[Pair]) -> Validation:
        candidates = [event for _, event in events if may_remove_protection(event.statement)]
        if not candidates:
            return Validation(list(events), [], [])
        rules = self._read_rules(connection, {event.tenant for event in candidates})
        checks = {tenant: _TenantCheck(connection, tenant, of_tenant) for tenant, of_tenant in rules.items()}
        for event in candidates:
            checks[event.tenant].add(event)
        for _, event in events:
            if event.statement.operation == "tag" and event.tenant in checks:
                checks[event.tenant].add_tagging(event)
        for check in checks.values():
            check.read_layers()
        if not any(check.layers for check in checks.values()):
            return Validation(list(events), [], [])
        for tenant, check in checks.items():
            check.read_derived([event for event in candidates if event.tenant == tenant])
        validation = Validation([], [], [])
        for record, event in events:
            removals = checks[event.tenant].apply(event) if event.tenant in checks else []
            if _is_forbidden(event, removals):
                validation.refused.append(_refusal(record, event, checks[event.tenant].rules, removals))
            else:
                validation.accepted.append((record, event))
                validation.audit.extend(_audit_entry(event, removal) for removal in removals)
        return validation

    def _read_rules(self, connection: psycopg.Connection, tenants: Collection[str]) -> dict[str, TagRules]:
        rows: dict[str, list[Any]] = {tenant: [] for tenant in tenants}
        for tenant, *row in connection.execute(query("protection/tag_rules"), {"tenants": sorted(tenants)}):
            rows[tenant].append(row)
        return {tenant: self._rules_of(tenant, of_tenant) for tenant, of_tenant in rows.items()}

    def _rules_of(self, tenant: str, rows: list[Any]) -> TagRules:
        parsed = self._parsed.get(tenant)
        if parsed is None or parsed[0] != rows:
            parsed = self._parsed[tenant] = (rows, tag_rules_of(rows))
        return parsed[1]


class _TenantCheck:
    """Finds out which assets of a tenant may lose a protective tag by a batch, and what they would lose."""

    def __init__(self, connection: psycopg.Connection, tenant: str, rules: TagRules) -> None:
        self.rules = rules
        self.layers: dict[str, dict[LayerName, Layer]] = {}  # of the assets that may lose a tag
        self._connection, self._tenant = connection, tenant
        self._at_risk: set[str] = set()  # assets that may lose a tag by what the batch alone says
        self._kept: dict[str, frozenset[str]] = {}  # by asset: the protective tags that its list of tags still has
        self._parents: dict[str, str | None] = {}  # by asset: "" if it is to have none, None if the batch states none
        self._derived: dict[str, DerivedTags] = {}
        self._from_parent: dict[str, DerivedTags] = {}
        self._passed_on: dict[str, list[str]] = {}

    def add(self, event: AssetEvent) -> None:
        """Notes an event that may remove protection."""
        asset, statement = event.asset_id, event.statement
        if statement.operation in {"untag", "suppress"} or (statement.operation == "delete" and self.rules.cut_deleted):
            self._at_risk.add(asset)
        if TAGS in statement.attributes:
            tags = statement.attributes[TAGS]
            kept = self.rules.protective.intersection(map(tag_key, tags)) if tags else _NONE
            if self._kept.setdefault(asset, kept) != kept:
                self._at_risk.add(asset)
        parent = (_stated_parent(event) or "") if "parent" in statement.attributes else None
        known = self._parents.setdefault(asset, parent)
        if known is None:
            self._parents[asset] = parent
        elif parent is not None and parent != known:
            self._at_risk.add(asset)
        if parent is not None and parent_by_name(event) not in (None, parent):
            self._at_risk.add(asset)  # it may be moved away from a table with which only the lake has it

    def add_tagging(self, event: AssetEvent) -> None:
        """One event may add a tag and another of the same batch remove it."""
        if event.asset_id in self._parents:
            self._at_risk.add(event.asset_id)

    def read_layers(self) -> None:
        """Reads the layers of the assets that may lose a tag."""
        at_risk = self._at_risk | self._with_protection()
        if not at_risk:
            return
        # An asset that is not stored yet may be tagged by one event of the batch and untagged by the next.
        self.layers = {asset: {} for asset in at_risk}
        parameters = {"tenant": self._tenant, "ids": sorted(at_risk)}
        for asset, *columns in self._connection.execute(query("protection/asset_layers"), parameters):
            self.layers[asset] = {
                name: Layer(*columns[3 * index : 3 * index + 3])
                for index, name in enumerate(LAYERS)
                if columns[3 * index] is not None
            }

    def _with_protection(self) -> set[str]:
        """The assets that state a protective tag that the batch may remove, or that the batch moves elsewhere."""
        parameters = {
            "tenant": self._tenant,
            "ids": "{" + ",".join(self._parents) + "}",
            "parents": "{" + ",".join("null" if one is None else one or '""' for one in self._parents.values()) + "}",
            "tags": self.rules.protective_array,
        }
        found: set[str] = set()
        for asset, tags, parent in self._connection.execute(query("protection/assets_with_protection"), parameters):
            stated = self.rules.protective.intersection(tags)
            if not stated <= self._kept.get(asset, stated) or self._parents[asset] not in (None, parent):
                found.add(asset)
        return found

    def read_derived(self, events: Sequence[AssetEvent]) -> None:
        """Reads what moved assets inherit before and after, and what others have through deleted ones."""
        at_risk = [event for event in events if event.asset_id in self.layers]
        moving = [event for event in at_risk if "parent" in event.statement.attributes]
        if moving:
            assets = sorted({event.asset_id for event in moving})
            parents = sorted({parent for event in moving for parent in self._possible_parents(event)})
            self._derived = self._derived_tags(assets, [None] * len(assets))
            # What the children of a parent inherit is what the parent would inherit as its own child.
            self._from_parent = self._derived_tags(parents, parents)
        deleted = {event.asset_id for event in at_risk if event.statement.operation == "delete"}
        if deleted and self.rules.cut_deleted:
            parameters = {"tenant": self._tenant, "ids": sorted(deleted), "tags": self.rules.protective_array}
            for asset, tag in self._connection.execute(query("protection/tags_through_assets"), parameters):
                self._passed_on.setdefault(asset, []).append(tag)

    def apply(self, event: AssetEvent) -> list[TagRemoval]:
        """What the event removes. Unless it is forbidden, the next events of the batch see its effect."""
        before = self.layers.get(event.asset_id)
        if before is None:
            return []
        context = DerivedContext(
            self._derived.get(event.asset_id, NO_DERIVED_TAGS),
            self._from_parent,
            self._passed_on.get(event.asset_id, ()),
            parent_by_name(event),
        )
        after = merge_event(before, event)
        removals = tag_removals(event.statement.layer, before, after, self.rules, context)
        if not _is_forbidden(event, removals):
            self.layers[event.asset_id] = after
        return removals

    def _possible_parents(self, event: AssetEvent) -> set[str]:
        """Every parent that the asset may have before or after the event."""
        layers = self.layers[event.asset_id].values()
        parents = {layer.fields.get(PARENT_ID) for layer in layers} | {_stated_parent(event), parent_by_name(event)}
        return {str(parent) for parent in parents if parent is not None}

    def _derived_tags(self, assets: Collection[str], parents: Sequence[str | None]) -> dict[str, DerivedTags]:
        """The derived tags of assets with these parents."""
        parameters = {
            "tenant": self._tenant,
            "tags": self.rules.propagating_array,
            "cut": self.rules.cut_deleted,
            "ids": assets,
            "parents": parents,
        }
        rows = self._connection.execute(query("catalogue/derived_tags"), parameters).fetchall()
        return {asset: derived_tags_of(self.rules, propagated, inherited) for asset, propagated, inherited in rows}


def _is_forbidden(event: AssetEvent, removals: Sequence[TagRemoval]) -> bool:
    return bool(removals) and not event.statement.authorised


def _refusal(record: Record, event: AssetEvent, rules: TagRules, removals: Sequence[TagRemoval]) -> Refusal:
    tags = sorted({tag for removal in removals for tag in removal.tags})
    problem = Problem("PROTECTED", removal_forbidden(rules, tags), event.statement.qualified_name)
    return Refusal(record, event.tenant, (problem,))


def _audit_entry(event: AssetEvent, removal: TagRemoval) -> AuditEntry:
    detail = {"tags": removal.tags, "layer": removal.layer, "event": event.id}
    return AuditEntry(event.tenant, event.statement.by, removal.action, event.asset_id, detail)


def _stated_parent(event: AssetEvent) -> str | None:
    parent = event.statement.attributes.get("parent")
    return None if parent is None else ids.resolve(event.tenant, parent)
