"""Whether a reaction has parked events of a tenant, for the API."""

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def is_parked(database: Database, tenant: str, reaction: str) -> bool:
    return bool(await database.fetch(tenant, query("reactions/is_parked"), {"reaction": reaction}))
