"""The audit of protective tags that really ended, and with whose authority.

Whatever ends a tag, or a parent of the source, takes the slow way of the merge, where the layer is known before and
after. Suppressions, deletions that cut, and parents that a person states with authority, which also end those of the
layers below, are rare: their events are looked at before they are merged. No other event costs anything.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg

from lily.lineage.tag_rules import TagRules
from lily.model.assets import conducting_parents, conducting_tags, tag_key
from lily.model.events import AssetEvent
from lily.model.layers import Layer
from lily.store.postgres.asset_rows import derived_tags_of
from lily.store.postgres.audit.entries import AuditEntry, insert_audit
from lily.store.postgres.definitions.tags import tag_rules_of
from lily.store.postgres.queries import query


class _Ended(NamedTuple):
    tenant: str
    asset_id: str
    layer: str
    tags: set[str]
    parents: set[str]
    cause: Mapping[str, str]


class EndedTags:
    """Runs in the caller's transaction. Raises what the connection raises."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._ended: list[_Ended] = []

    def clear(self) -> None:
        """Forgets what was noted: the merge failed, and is tried again in parts."""
        self._ended.clear()

    def note(self, layer: str, key: Mapping[str, Any], before: Layer, after: Layer, causes: Sequence[Any]) -> None:
        """Notes what the merge of a layer ended."""
        tags = conducting_tags({"source": before}).keys() - conducting_tags({"source": after}).keys()
        parents = conducting_parents(before) - conducting_parents(after) if layer == "source" else set()
        if tags or parents:
            cause = causes[-1] if causes else {}
            self._ended.append(_Ended(key["tenant_id"], key["id"], layer, set(tags), parents, cause))

    def audit_noted(self) -> None:
        ended, self._ended = self._ended, []
        rules = self._rules({one.tenant for one in ended})
        for one in ended:
            of_tenant = rules[one.tenant]
            tags = sorted(one.tags & of_tenant.protective)
            entries = [_entry(one, one.layer, tags)] if tags else []
            if inherited := self._passed_down(one.tenant, one.parents, of_tenant):
                entries.append(_entry(one, "inherited", inherited))
            insert_audit(self._connection, entries)

    def audit_requests(self, events: Sequence[AssetEvent]) -> None:
        """Suppressions, deletions where deletion cuts, and parents. All of these events have authority."""
        rules = self._rules({event.tenant for event in events})
        for event in events:
            action, layer, tags = self._requested(event, rules[event.tenant])
            if tags:
                detail = {"tags": tags, "layer": layer, "event": event.id}
                entry = AuditEntry(event.tenant, event.statement.by, action, event.asset_id, detail)
                insert_audit(self._connection, [entry])

    def _requested(self, event: AssetEvent, rules: TagRules) -> tuple[str, str, list[str]]:
        if event.statement.operation == "suppress":
            return "tag.suppressed", "user", self._suppressed(event, rules)
        release = event.statement.release
        if event.statement.operation == "delete" or (release is not None and release.kind == "deletion"):
            return "tag.removed", "propagated", self._cut(event, rules)
        return "tag.removed", "inherited", self._passed_down(event.tenant, self._left(event), rules)

    def _left(self, event: AssetEvent) -> set[str]:
        """The parents that the asset has and that the event does not give it."""
        parameters = {"tenant": event.tenant, "id": event.asset_id}
        found = {row[0] for row in self._connection.execute(query("protection/parents_of"), parameters)}
        return found - conducting_parents(event.layer())

    def _suppressed(self, event: AssetEvent, rules: TagRules) -> list[str]:
        tag = tag_key(event.statement.tag or "")
        parameters = {"tenant": event.tenant, "id": event.asset_id, "tag": tag}
        known = self._connection.execute(query("protection/is_suppressed"), parameters).fetchall()
        return [tag] if tag in rules.protective and not known else []

    def _cut(self, event: AssetEvent, rules: TagRules) -> list[str]:
        if not rules.cut_deleted:
            return []
        parameters = {"tenant": event.tenant, "ids": [event.asset_id], "tags": rules.protective_array}
        return [tag for _, tag in self._connection.execute(query("protection/tags_through_assets"), parameters)]

    def _passed_down(self, tenant: str, ended: Collection[str], rules: TagRules) -> list[str]:
        """The protective tags that the parents pass down: what each would inherit as its own child."""
        if not ended:
            return []
        parents = sorted(ended)
        parameters = {
            "tenant": tenant,
            "tags": rules.propagating_array,
            "cut": rules.cut_deleted,
            "ids": parents,
            "parents": parents,
        }
        rows = self._connection.execute(query("catalogue/derived_tags"), parameters).fetchall()
        found = {tag for _, *tags in rows for tag in derived_tags_of(rules, *tags).inherited}
        return sorted(found & rules.protective)

    def _rules(self, tenants: Collection[str]) -> dict[str, TagRules]:
        if not tenants:
            return {}
        rows: dict[str, list[Any]] = {tenant: [] for tenant in tenants}
        for tenant, *row in self._connection.execute(query("protection/tag_rules"), {"tenants": sorted(tenants)}):
            rows[tenant].append(row)
        return {tenant: tag_rules_of(of_tenant) for tenant, of_tenant in rows.items()}


def _entry(ended: _Ended, layer: str, tags: list[str]) -> AuditEntry:
    detail = {"tags": tags, "layer": layer, "event": ended.cause.get("id", "")}
    return AuditEntry(ended.tenant, ended.cause.get("by", "unknown"), "tag.removed", ended.asset_id, detail)
