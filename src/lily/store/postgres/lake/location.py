"""What PostgreSQL knows about the lake: where its tables are and how far it has come."""

from lily.model import clock
from lily.store.lake.reader import LakeSnapshot
from lily.store.lake.tables import CATALOG, NAMESPACE
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def located(database: Database) -> LakeSnapshot:
    """One statement, so what it calls fresh is in what it locates: the lake's progress is told after its commits."""
    asked = {"catalog": CATALOG, "namespace": NAMESPACE}
    ((metadata, fresh_as_of),) = await database.fetch(None, query("lake/location"), asked)
    return LakeSnapshot(metadata, clock.stamp(fresh_as_of) if fresh_as_of else None)


async def batch_by(database: Database, time: str) -> int:
    """The newest batch that could be read at a time; 0 where there was none."""
    ((number,),) = await database.fetch(None, query("lake/batch_by"), {"time": time})
    return int(number)


async def batch_before(database: Database, tenant: str, asset_id: str) -> int | None:
    """The newest batch that was there when PostgreSQL took an asset over; None where it never did."""
    rows = await database.fetch(tenant, query("lake/batch_before"), {"id": asset_id})
    return int(rows[0][0]) if rows else None
