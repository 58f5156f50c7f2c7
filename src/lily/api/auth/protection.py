"""Protective tags: removing one needs `policy:write`. The API refuses early what committed state already shows.

The final check is the pipeline's, because events that are still in the log count too. It also writes the audit entry
(`lily.store.postgres.protection.asset_protection`).
"""

from typing import Final

from lily.api.calls import Call
from lily.api.http.errors import forbidden
from lily.lineage.protection import (
    may_remove_protection,
    merge_event,
    no_longer_inherited,
    parent_by_name,
    removal_forbidden,
    removed_tags,
)
from lily.model import ids
from lily.model.assets import parent_id
from lily.model.events import AssetEvent
from lily.store.assets import StoredAsset
from lily.store.postgres.propagation.tag_paths import tags_through

REQUIRED_SCOPE: Final = "policy:write"


async def guard_source(call: Call, event: AssetEvent) -> None:
    """As `guard`, but looks the asset up: in the lake too if the event moves a column away from its table, because it
    loses the tags that it inherits. Any other asset that only the lake has cannot lose tags: it has none of its own."""
    if call.principal.may(REQUIRED_SCOPE) or not may_remove_protection(event.statement):
        return
    store = call.services.catalogue if _moves_column(event) else call.services.reader
    asset = await store.find(call.tenant, event.asset_id)
    if asset is not None:
        await guard(call, asset, event)


def _moves_column(event: AssetEvent) -> bool:
    parent, by_name = event.statement.attributes.get("parent"), parent_by_name(event)
    return by_name is not None and (parent is None or ids.resolve(event.tenant, parent) != by_name)


async def guard(call: Call, asset: StoredAsset, event: AssetEvent) -> None:
    """Raises Declined with status 403 if the event removes a protective tag and the caller lacks `policy:write`."""
    if call.principal.may(REQUIRED_SCOPE) or not may_remove_protection(event.statement):
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
