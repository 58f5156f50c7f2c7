"""Names beside the ids of where a tag comes from."""

from collections.abc import Sequence
from typing import Any

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Call
from lily.store.assets import StoredAsset
from lily.store.postgres.graph.placeholders import node_names


async def add_names(call: Call, asset: StoredAsset, items: Sequence[dict[str, Any]]) -> None:
    """One query for all paths, and none if all tags are the asset's own."""
    others = {step for item in items for step in item["path"]} - {asset.id}
    names = await node_names(call.services.database, call.tenant, others) if others else {}
    denied = await denied_references(call, "READ", others) if others else {}
    shown = {asset.id: asset.qualified_name} | {step: name for step, name in names.items() if step not in denied}
    for item in items:
        item["origin_name"] = shown.get(item["origin"])
        item["path_names"] = [shown.get(step) for step in item["path"]]
