"""Protective tags: removing one needs `policy:write`. The API refuses at once what it can already see.

The pipeline decides for good and writes the audit, because it sees what is still on its way
(`lily.store.postgres.protection.asset_protection`).
"""

from typing import Final

from lily.api.calls import Call
from lily.api.http.errors import forbidden
from lily.lineage.protection import (
    may_remove_protection,
    merge_event,
    no_longer_inherited,
    removal_forbidden,
    removed_tags,
)
from lily.model.assets import parent_id
from lily.model.events import AssetEvent
from lily.store.assets import StoredAsset
from lily.store.postgres.propagation.tag_paths import tags_through

NEEDED: Final = "policy:write"


async def guard_source(call: Call, event: AssetEvent) -> None:
    """As `guard`, of an asset that has to be looked up. What only the lake has, has no tags of its own to lose."""
    if call.principal.may(NEEDED) or not may_remove_protection(event.statement):
        return
    asset = await call.services.reader.find(call.tenant, event.asset_id)
    if asset is not None:
        await guard(call, asset, event)


async def guard(call: Call, asset: StoredAsset, event: AssetEvent) -> None:
    """Raises Declined with 403 where the event takes a protective tag away and the caller may not."""
    if call.principal.may(NEEDED) or not may_remove_protection(event.statement):
        return
    lost = await _lost(call, asset, event)
    if lost:
        raise forbidden(removal_forbidden(asset.rules, lost), asset.id)


async def _lost(call: Call, asset: StoredAsset, event: AssetEvent) -> list[str]:
    rules, layer = asset.rules, event.statement.layer
    after = merge_event(asset.layers, event)
    lost = removed_tags(asset.layers, after, layer, rules.protective)
    parent = parent_id(after)
    if parent != asset.parent and asset.derived_tags.inherited:
        derived = await call.services.reader.derived_tags(call.tenant, rules, {asset.id: parent})
        lost += no_longer_inherited(after, asset.derived_tags, derived[asset.id], rules.protective)
    if rules.cut_deleted and event.statement.operation == "delete":
        lost += await tags_through(call.services.database, asset)
    return list(dict.fromkeys(lost))
