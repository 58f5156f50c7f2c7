"""What the graph keeps of an end of an edge that only the lake knows."""

from typing import NamedTuple

from lily.model.assets import DELETED, PARENT_ID, TYPE, entity_type, is_deleted, shown_value
from lily.model.states import AssetState


class Known(NamedTuple):
    """What the lake knows of an end of an edge; nothing where it does not know it."""

    parent: str | None = None
    qualified_name: str | None = None
    name: str | None = None
    entity_type: str | None = None
    is_deleted: bool = False


def known_of(state: AssetState | None) -> Known:
    if state is None:
        return Known()
    layers = state.layers
    parent, name = shown_value(layers, PARENT_ID), shown_value(layers, "name")
    return Known(parent, state.qualified_name, name, entity_type(layers) or None, is_deleted(layers))


def adds_nothing(state: AssetState, known: Known) -> bool:
    """Whether all that a further piece of an asset says is known: most restate what they stated before."""
    if state.qualified_name != known.qualified_name:
        return False
    values = {PARENT_ID: known.parent, "name": known.name, TYPE: known.entity_type, DELETED: known.is_deleted}
    # A field that was cleared has a clock and no value.
    said = (
        (key, layer.fields.get(key))
        for layer in state.layers.values()
        for key in layer.fields.keys() | (layer.clocks or {}).keys()
    )
    return all(value == values[key] for key, value in said if key in values)
