"""The assets of a lineage graph, as little of each as the graph shows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


class Node(NamedTuple):
    qualified_name: str | None = None
    name: str | None = None
    entity_type: str | None = None
    is_deleted: bool = False
    tags: tuple[str, ...] = ()
    awaits_lake: bool = False


async def nodes_of(database: Database, tenant: str, ids: Sequence[str]) -> dict[str, Node]:
    """Those that PostgreSQL holds, and the columns of the lake that it knows about."""
    rows = await database.fetch(tenant, query("graph/nodes"), {"ids": id_array(ids)})
    return {
        asset_id: Node(qualified_name, name, entity_type, is_deleted, _names(tags), awaits_lake)
        for asset_id, qualified_name, name, entity_type, is_deleted, awaits_lake, tags in rows
    }


def _names(tags: list[Any] | None) -> tuple[str, ...]:
    """The effective tags that the asset states itself, by the names they were stated with."""
    if tags is None:
        return ()
    effective, *layers = tags
    stated = {key: name for layer in layers for key, name in (layer or {}).items()}
    return tuple(sorted((stated.get(key, key) for key in effective), key=str.casefold))
