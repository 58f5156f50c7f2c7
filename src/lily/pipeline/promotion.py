"""Promotion: what PostgreSQL has just come to hold gets the past that only the lake knows.

It runs between two batches of the lake query. Events of earlier batches are in the lake by then, and later batches
find the asset in PostgreSQL and merge there too, so nothing falls between the two stores.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.model.assets import LAYERS, PARENT_ID
from lily.model.states import AssetState, joined
from lily.store.lake import tables
from lily.store.lake.rows import READ, read_states
from lily.store.postgres.hot import HotStore
from lily.store.postgres.propagation import Located, Propagator

AT_ONCE = 2_000


def promote(spark: SparkSession, store: HotStore) -> int:
    """Carries over the state of every asset that awaits it; answers how many changes that made."""
    changed = 0
    while waiting := store.awaiting_lake(AT_ONCE):
        changed += store.carry_over(list(_states(spark, waiting).values()), waiting)
    return changed


def place(spark: SparkSession, propagator: Propagator) -> int:
    """Tells propagation where columns are that have lineage and that the lake alone knows; answers how many."""
    placed = 0
    while waiting := propagator.awaiting_lake(AT_ONCE):
        states = _states(spark, waiting)
        placed += propagator.place({asset: _located(states.get(asset)) for asset in waiting})
    return placed


def _located(state: AssetState | None) -> Located:
    """The parent is the one that is shown: the person's, else the enriched, else the source's."""
    if state is None:
        return Located()
    layers = [state.layers[name] for name in reversed(LAYERS) if name in state.layers]
    parent = next((layer.fields[PARENT_ID] for layer in layers if PARENT_ID in layer.fields), None)
    return Located(state.qualified_name, parent)


def _states(spark: SparkSession, assets: list[tuple[str, str]]) -> dict[tuple[str, str], AssetState]:
    wanted = set(assets)
    rows = (
        spark.table(tables.identifier(tables.ASSETS))
        .where(
            F.col("tenant").isin(sorted({tenant for tenant, _ in assets}))
            & F.col("place").isin(sorted({tables.place_of(asset_id) for _, asset_id in assets}))
            & F.col("id").isin(sorted({asset_id for _, asset_id in assets}))
        )
        .select(*READ)
        .toArrow()
    )
    return joined(state for state in read_states(rows) if (state.tenant, state.id) in wanted)
