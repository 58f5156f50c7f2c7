"""Protective tags: a person who removes one, or suppresses one, needs `policy:write`.

Everything else that leaves out a protective tag is accepted, and without authority the tag is held
(`lily.model.held`). So is what a person removes whose tag was still in the log when this looked.
"""

from typing import Final

from lily.api.calls import Call
from lily.api.http.errors import forbidden
from lily.model.events import AssetEvent
from lily.model.layers import TAGS, merge
from lily.store.assets import StoredAsset

REQUIRED_SCOPE: Final = "policy:write"


def guard(call: Call, asset: StoredAsset, event: AssetEvent) -> None:
    """Raises Declined with status 403 if the event takes a protective tag from the person's layer and the caller lacks
    `policy:write`."""
    layer = asset.layers.get(event.statement.layer)
    if layer is None or call.principal.may(REQUIRED_SCOPE):
        return
    shown, left = layer.fields.get(TAGS, {}), merge(layer, event.layer()).fields.get(TAGS, {})
    if lost := sorted((shown.keys() - left.keys()) & asset.rules.protective):
        names = ", ".join(asset.rules.named(lost).values())
        raise forbidden(f"removing the protective tag {names} requires the scope policy:write", asset.id)
