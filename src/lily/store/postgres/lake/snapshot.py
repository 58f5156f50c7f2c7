"""The current snapshot of the lake and its batches, as recorded in PostgreSQL."""

from lily.model import clock
from lily.store.lake.reader import LakeSnapshot
from lily.store.lake.tables import CATALOG, NAMESPACE
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Fetches


async def current_snapshot(database: Fetches) -> LakeSnapshot:
    """The tables and `fresh_as_of` come from one statement. Freshness is recorded after a commit, so the tables have
    everything up to that time."""
    parameters = {"catalog": CATALOG, "namespace": NAMESPACE}
    ((metadata, fresh_as_of),) = await database.fetch(None, query("lake/snapshot"), parameters)
    return LakeSnapshot(metadata, clock.stamp(fresh_as_of) if fresh_as_of else None)


async def newest_batch_at(database: Database, time: str) -> int:
    """The newest batch that could be read at a time; 0 if there was none."""
    ((number,),) = await database.fetch(None, query("lake/newest_batch_at"), {"time": time})
    return int(number)


async def newest_batch_before_promotion(database: Database, tenant: str, asset_id: str) -> int | None:
    """The newest batch when the asset came to PostgreSQL; None if it is in the lake only."""
    rows = await database.fetch(tenant, query("lake/newest_batch_before_promotion"), {"id": asset_id})
    return int(rows[0][0]) if rows else None
