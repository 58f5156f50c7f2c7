"""Graph nodes of assets that only the lake has: what the graph stores of them, and when that is out of date."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lily.model.assets import DELETED, TYPE, entity_type, held_parents, is_deleted, shown_value
from lily.model.held import AUTHORISED_PARENT, PARENT_ID
from lily.model.layers import Layer
from lily.model.states import AssetState


class LakeNode(NamedTuple):
    """What the graph stores of an asset in the lake; nothing if the lake does not have it either."""

    parent: str | None = None
    qualified_name: str | None = None
    name: str | None = None
    entity_type: str | None = None
    is_deleted: bool = False
    held_parents: frozenset[str] = frozenset()


UNKNOWN = LakeNode()


def lake_node_of(state: AssetState | None) -> LakeNode:
    if state is None:
        return UNKNOWN
    layers = state.layers
    parent, name = shown_value(layers, PARENT_ID), shown_value(layers, "name")
    kind, deleted = entity_type(layers) or None, is_deleted(layers)
    return LakeNode(parent, state.qualified_name, name, kind, deleted, frozenset(held_parents(layers)))


def adds_nothing(state: AssetState, node: LakeNode) -> bool:
    """Whether the node already has everything that a later state of the asset states. Most states only repeat it."""
    if state.qualified_name != node.qualified_name:
        return False
    if node.held_parents and any(AUTHORISED_PARENT in layer.fields for layer in state.layers.values()):
        return False  # it may end what is held
    if len(state.layers) == 1 and (source := state.layers.get("source")) is not None and source.clocks is None:
        return _repeats(source.fields, node)
    values = ((PARENT_ID, node.parent), ("name", node.name), (TYPE, node.entity_type), (DELETED, node.is_deleted))
    return all(_agrees(layer, key, value) for layer in state.layers.values() for key, value in values)


def _repeats(fields: Mapping[str, Any], node: LakeNode) -> bool:
    """The same for the fields of a layer without clocks, as nearly all are."""
    return bool(
        fields.get(PARENT_ID, node.parent) == node.parent
        and fields.get("name", node.name) == node.name
        and fields.get(TYPE, node.entity_type) == node.entity_type
        and fields.get(DELETED, node.is_deleted) == node.is_deleted
    )


def _agrees(layer: Layer, key: str, value: Any) -> bool:
    """Whether the layer states this value, or none. A field that was cleared has a clock and no value."""
    if key in layer.fields:
        return bool(layer.fields[key] == value)
    return value is None or layer.clocks is None or key not in layer.clocks
