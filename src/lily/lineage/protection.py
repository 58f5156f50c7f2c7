"""Whether a statement about an asset removes protective tags. The API and the pipeline use the same functions."""

from collections.abc import Collection, Mapping

from lily.model.assets import DerivedTags, LayerName, stated_tags, suppressions
from lily.model.events import AssetEvent
from lily.model.layers import TAGS, Layer, merge
from lily.model.statements import Statement

Layers = Mapping[LayerName, Layer]


def may_remove_protection(statement: Statement) -> bool:
    """Whether a statement of this kind can remove a protective tag at all; most cannot."""
    return (
        TAGS in statement.attributes
        or "parent" in statement.attributes
        or statement.operation in {"untag", "suppress", "delete"}
    )


def merge_event(layers: Layers, event: AssetEvent) -> dict[LayerName, Layer]:
    """The layers after the event is merged."""
    name, stated = event.statement.layer, event.layer()
    known = layers.get(name)
    return {**layers, name: stated if known is None else merge(known, stated)}


def removed_tags(before: Layers, after: Layers, layer: LayerName, protective: Collection[str]) -> list[str]:
    """The protective tags that the layer loses."""
    old, new = (layers[layer].fields.get(TAGS, {}) if layer in layers else {} for layers in (before, after))
    return sorted(tag for tag in old.keys() - new.keys() if tag in protective)


def no_longer_inherited(
    layers: Layers, before: DerivedTags, after: DerivedTags, protective: Collection[str]
) -> list[str]:
    """The protective tags that the asset inherited before and that are not in effect after its parent changes."""
    kept = stated_tags(layers).keys() | suppressions(layers).keys() | after.propagated.keys() | after.inherited.keys()
    return sorted(tag for tag in before.inherited if tag in protective and tag not in kept)
