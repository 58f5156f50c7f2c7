"""Promotion: copies what only the lake knows of an asset to PostgreSQL, once PostgreSQL has the asset too.

It runs between two batches of the lake query. By then, the events of earlier batches are in the lake, and later batches
find the asset in PostgreSQL and merge their events there as well. So no event is missed.
"""

from collections.abc import Collection

from lily.lineage.lake_nodes import lake_node_of
from lily.pipeline.lake.lookups import Asset, LakeLookups
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.propagation.propagator import Propagator

ASSETS_AT_ONCE = 2_000
NODES_AT_ONCE = 20_000  # reading many ids costs little more than reading a few


def promote(lookups: LakeLookups, store: CatalogueWriter) -> int:
    """Merges the lake's state of every asset that awaits it. Returns the number of changes."""
    changed = 0
    while waiting := store.awaiting_lake(ASSETS_AT_ONCE):
        changed += store.promote(list(lookups.states(waiting).values()), waiting)
    return changed


def set_parents(
    lookups: LakeLookups,
    propagator: Propagator,
    expected: set[Asset] | None = None,
    overdue: Collection[Asset] = (),
) -> int:
    """Gives propagation the parents of columns that have lineage and are only in the lake. Returns how many changed.

    It handles a limited number at a time: while edges arrive there are always more, and batches must not wait for it.
    `expected` is given while the lake has events left to read, which probably state the columns that are missing: these
    are added to it instead of being recorded as unknown, and are not looked up again. Those that are `overdue` are
    recorded: a batch was written since they were expected.
    """
    waiting = [asset for asset in propagator.awaiting_lake(NODES_AT_ONCE) if expected is None or asset not in expected]
    states = lookups.states(waiting)
    if expected is not None:
        expected.update(asset for asset in waiting if asset not in states and asset not in overdue)
        waiting = [asset for asset in waiting if asset not in expected]
    return propagator.set_parents({asset: lake_node_of(states.get(asset)) for asset in waiting}) if waiting else 0
