"""Single edges as the doors look at them: what they are, what passes them, and what became of a statement."""

from collections.abc import Sequence
from typing import Any

from lily.model.edges import EdgeKey
from lily.store.postgres.protection.conducting_edges import CUT_OF_OWN, Conducting, answered, asked, conducting_query
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Query


async def stored_edges(database: Database, tenant: str, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Conducting]:
    """Those of the edges that were ever stated; the tags that pass them are not looked for."""
    return await _look(database, tenant, keys, query("edges/by_key"))


async def conducting_edges(database: Database, tenant: str, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Conducting]:
    """The same with the tags that pass them."""
    return await _look(database, tenant, keys, conducting_query(CUT_OF_OWN))


async def refused_at(
    database: Database, tenant: str, topic: str, places: Sequence[tuple[int, int]], limit: int
) -> list[dict[str, Any]]:
    """The errors of what was refused at these partitions and offsets."""
    about = {
        "topic": topic,
        "partitions": [partition for partition, _ in places],
        "offsets": [offset for _, offset in places],
        "limit": limit,
    }
    rows = await database.fetch(tenant, query("edges/refused_at"), about)
    return [error for (errors,) in rows for error in errors]


async def _look(
    database: Database, tenant: str, keys: Sequence[EdgeKey], statement: Query
) -> dict[EdgeKey, Conducting]:
    edges = [(tenant, key) for key in keys]
    rows = await database.fetch(tenant, statement, asked(edges)) if edges else []
    return {key: conducting for (_, key), conducting in answered(edges, rows)}
