"""The nodes of a lineage graph: the few fields of an asset that the graph shows."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from lily.model.assets import effective_tag_keys
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


async def read_nodes(
    database: Database, tenant: str, ids: Sequence[str], protective: Collection[str]
) -> dict[str, Node]:
    """The nodes that PostgreSQL has, by id; of columns in the lake those that propagation has looked up."""
    rows = await database.fetch(tenant, query("graph/nodes"), {"ids": id_array(ids)})
    return {
        asset_id: Node(qualified_name, name, entity_type, is_deleted, _names(tags, protective), awaits_lake)
        for asset_id, qualified_name, name, entity_type, is_deleted, awaits_lake, tags in rows
    }


def _names(tags: list[Any] | None, protective: Collection[str]) -> tuple[str, ...]:
    """The names, as stated, of the effective tags that the asset itself states."""
    if tags is None:
        return ()
    source, enriched, user = tags
    stated = {**(enriched or {}), **(user or {}), **(source or {})}
    return tuple(sorted((stated[key] for key in effective_tag_keys(tags, (), (), protective)), key=str.casefold))
