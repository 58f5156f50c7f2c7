"""Graph nodes of assets that only the lake has: what the graph stores of them, and when that is out of date."""

from typing import NamedTuple

from lily.model.assets import DELETED, PARENT_ID, TYPE, entity_type, is_deleted, shown_value
from lily.model.states import AssetState


class LakeNode(NamedTuple):
    """What the graph stores of an asset in the lake; nothing if the lake does not have it either."""

    parent: str | None = None
    qualified_name: str | None = None
    name: str | None = None
    entity_type: str | None = None
    is_deleted: bool = False


def lake_node_of(state: AssetState | None) -> LakeNode:
    if state is None:
        return LakeNode()
    layers = state.layers
    parent, name = shown_value(layers, PARENT_ID), shown_value(layers, "name")
    return LakeNode(parent, state.qualified_name, name, entity_type(layers) or None, is_deleted(layers))


def adds_nothing(state: AssetState, node: LakeNode) -> bool:
    """Whether the node already has everything that a later state of the asset states. Most states only repeat it."""
    if state.qualified_name != node.qualified_name:
        return False
    values = {PARENT_ID: node.parent, "name": node.name, TYPE: node.entity_type, DELETED: node.is_deleted}
    # A field that was cleared has a clock and no value.
    stated = (
        (key, layer.fields.get(key))
        for layer in state.layers.values()
        for key in layer.fields.keys() | (layer.clocks or {}).keys()
    )
    return all(value == values[key] for key, value in stated if key in values)
