"""Promotion: what PostgreSQL has just come to hold gets the past that only the lake knows.

It runs between two batches of the lake query. Events of earlier batches are in the lake by then, and later batches
find the asset in PostgreSQL and merge there too, so nothing falls between the two stores.
"""

from lily.pipeline.lake.lookups import LakeLookups
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.graph.lake_nodes import known_of
from lily.store.postgres.propagation.propagator import Propagator

AT_ONCE = 2_000
PLACED_AT_ONCE = 20_000  # a look at many ids costs little more than one at few: both go through the files


def promote(lookups: LakeLookups, store: CatalogueWriter) -> int:
    """Carries over the state of every asset that awaits it; answers how many changes that made."""
    changed = 0
    while waiting := store.awaiting_lake(AT_ONCE):
        changed += store.promote(list(lookups.states(waiting).values()), waiting)
    return changed


def place(lookups: LakeLookups, propagator: Propagator) -> int:
    """Tells propagation of columns that have lineage and that the lake alone knows; answers how many it moved. Not more
    than some at a time: while edges pour in there is no end of them, and the lake has to go on."""
    waiting = propagator.awaiting_lake(PLACED_AT_ONCE)
    states = lookups.states(waiting)
    return propagator.set_parents({asset: known_of(states.get(asset)) for asset in waiting}) if waiting else 0
