"""Protective tags: who takes one away needs `policy:write`, and leaves a trace."""

from collections.abc import Collection

from lily.api.calls import Call
from lily.model.assets import PROTECTIVE, fold_tag
from lily.model.layers import TAGS
from lily.store.assets import StoredAsset
from lily.store.postgres import audit

REMOVED = "tag.removed"


async def guard_removal(call: Call, asset: StoredAsset, tags: Collection[str]) -> None:
    """Raises Declined with 403. The trace is written first, so that nothing is taken away without one."""
    protective = sorted({fold_tag(tag) for tag in tags} & PROTECTIVE)
    if not protective:
        return
    call.require("policy:write", f"taking the protective tag {', '.join(protective)} away", asset.id)
    detail = {"tags": protective, "layer": "user", "correlation": call.correlation}
    await audit.record(call.parts.database, call.principal, REMOVED, asset.id, detail)


def dropped(asset: StoredAsset, stated: Collection[str]) -> set[str]:
    """The tags of the person's layer that a newly stated list leaves out."""
    user = asset.layers.get("user")
    present: dict[str, str] = user.fields.get(TAGS, {}) if user else {}
    return present.keys() - {fold_tag(tag) for tag in stated}
