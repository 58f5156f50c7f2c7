"""Parked events as the API sees them: whether a reaction still has some of a tenant to handle."""

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def is_parked(database: Database, tenant: str, reaction: str) -> bool:
    return bool(await database.fetch(tenant, query("reactions/is_parked"), {"reaction": reaction}))
