"""Promotion: copies what only the lake knows of an asset to PostgreSQL, once PostgreSQL has the asset too.

It runs between two batches of the lake query. By then, the events of earlier batches are in the lake, and later batches
find the asset in PostgreSQL and merge their events there as well. So no event is missed.

The lake has merged the events that the hot lane refused, because it does not wait for it. The state of an asset with
such events is made again, of the others.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import partial

from lily.bus import topics
from lily.lineage.lake_nodes import UNKNOWN
from lily.model.envelopes import FUTURE_SKEW
from lily.model.states import AssetState
from lily.pipeline.lake.lookups import Asset, LakeLookups
from lily.store.lake.event_replay import state_at
from lily.store.lake.scans import LakeEvent
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.dead_letters.refused_records import Position, position_of
from lily.store.postgres.propagation.propagator import Propagator

ASSETS_AT_ONCE = 2_000
ROUNDS = 5  # of so many assets between two batches: while tagged columns arrive, there are always more
NODES_AT_ONCE = 20_000  # reading many ids costs little more than reading a few


def promote(lookups: LakeLookups, store: CatalogueWriter, skew: timedelta = FUTURE_SKEW) -> int:
    """Merges the lake's state of assets that await it, a limited number of them. Readers merge both stores for those
    that are left. The hot lane must have reached the events that the lake has. Returns the number of changes."""
    changed = 0
    for _ in range(ROUNDS):
        if not (waiting := store.awaiting_lake(ASSETS_AT_ONCE)):
            break
        changed += store.promote(_states(lookups, store, waiting, skew), waiting)
    return changed


def _states(
    lookups: LakeLookups, store: CatalogueWriter, waiting: Sequence[Asset], skew: timedelta
) -> list[AssetState]:
    refused = store.refused_records(waiting, (topics.ASSETS, topics.ASSETS_BULK))
    states = list(lookups.states(asset for asset in waiting if asset not in refused).values())
    for asset, positions in refused.items():
        replayed = state_at(*asset, lookups.events(*asset), partial(_is_accepted, positions), skew)
        states += [replayed.state] if replayed else []
    return states


def _is_accepted(refused: Collection[Position], event: LakeEvent) -> bool:
    return position_of(event) not in refused


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
    nodes = lookups.nodes(waiting)
    if expected is not None:
        expected.update(asset for asset in waiting if asset not in nodes and asset not in overdue)
        waiting = [asset for asset in waiting if asset not in expected]
    return propagator.set_parents({asset: nodes.get(asset, UNKNOWN) for asset in waiting}) if waiting else 0
