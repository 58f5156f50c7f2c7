"""Whether a statement about an asset takes protective tags away. The doors and the pipeline ask the same."""

from collections.abc import Collection, Mapping

from lily.model.assets import PARENT_ID, DerivedTags, LayerName, shown_value, stated_tags, suppressions
from lily.model.events import AssetEvent
from lily.model.layers import TAGS, Layer, merge
from lily.model.statements import Statement

Layers = Mapping[LayerName, Layer]


def may_take_away(statement: Statement) -> bool:
    """Whether it can cost a protective tag at all: most statements say so by what they are."""
    return (
        TAGS in statement.attributes
        or "parent" in statement.attributes
        or statement.operation in {"untag", "suppress", "delete"}
    )


def with_statement(layers: Layers, event: AssetEvent) -> dict[LayerName, Layer]:
    """The layers as they are once the event has been merged."""
    name, stated = event.statement.layer, event.layer()
    known = layers.get(name)
    return {**layers, name: stated if known is None else merge(known, stated)}


def untagged(before: Layers, after: Layers, layer: LayerName, protective: Collection[str]) -> list[str]:
    """The protective tags that stood in the layer and do not any more."""
    stood, stands = (layers[layer].fields.get(TAGS, {}) if layer in layers else {} for layers in (before, after))
    return sorted(tag for tag in stood.keys() - stands.keys() if tag in protective)


def parent_of(layers: Layers) -> str | None:
    return shown_value(layers, PARENT_ID)


def disinherited(layers: Layers, before: DerivedTags, after: DerivedTags, protective: Collection[str]) -> list[str]:
    """The protective tags that came down from the parent before and are not effective under the one after."""
    kept = stated_tags(layers).keys() | suppressions(layers).keys() | after.propagated.keys() | after.inherited.keys()
    return sorted(tag for tag in before.inherited if tag in protective and tag not in kept)
