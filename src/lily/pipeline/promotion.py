"""Promotion: what PostgreSQL has just come to hold gets the past that only the lake knows.

It runs between two batches of the lake query. Events of earlier batches are in the lake by then, and later batches
find the asset in PostgreSQL and merge there too, so nothing falls between the two stores.
"""

from lily.model.assets import PARENT_ID, entity_type, is_deleted, shown_value
from lily.model.states import AssetState
from lily.pipeline.lookups import LakeLookups
from lily.store.postgres.hot import HotStore
from lily.store.postgres.propagation import Known, Propagator

AT_ONCE = 2_000


def promote(lookups: LakeLookups, store: HotStore) -> int:
    """Carries over the state of every asset that awaits it; answers how many changes that made."""
    changed = 0
    while waiting := store.awaiting_lake(AT_ONCE):
        changed += store.carry_over(list(lookups.states(waiting).values()), waiting)
    return changed


def place(lookups: LakeLookups, propagator: Propagator) -> int:
    """Tells propagation of the columns that have lineage and that the lake alone knows; answers how many it moved."""
    placed = 0
    while waiting := propagator.awaiting_lake(AT_ONCE):
        states = lookups.states(waiting)
        placed += propagator.place({asset: _known(states.get(asset)) for asset in waiting})
    return placed


def _known(state: AssetState | None) -> Known:
    if state is None:
        return Known()
    layers = state.layers
    parent, name = shown_value(layers, PARENT_ID), shown_value(layers, "name")
    return Known(parent, state.qualified_name, name, entity_type(layers) or None, is_deleted(layers))
