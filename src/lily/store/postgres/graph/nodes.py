"""The nodes of a lineage graph: the few fields of an asset that the graph shows."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

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
    at_risk: Sequence[str] = ()  # ids of incidents


async def read_nodes(
    database: Database, tenant: str, ids: Sequence[str], protective: Collection[str]
) -> dict[str, Node]:
    """The nodes that PostgreSQL has, by id; of columns in the lake those that propagation has looked up."""
    rows = await database.fetch(tenant, query("graph/nodes"), {"ids": id_array(ids)})
    return {
        asset_id: Node(
            qualified_name,
            name,
            entity_type,
            is_deleted,
            own_tags(tags, protective) if tags else (),
            awaits_lake,
            at_risk or (),
        )
        for asset_id, qualified_name, name, entity_type, is_deleted, awaits_lake, tags, at_risk in rows
    }


def own_tags(stated: Sequence[Mapping[str, str] | None], protective: Collection[str]) -> tuple[str, ...]:
    """The names of the effective tags among those that the source, enriched and user layers of an asset state."""
    source, enriched, user = stated
    names = {**(enriched or {}), **(user or {}), **(source or {})}
    return tuple(sorted((names[key] for key in effective_tag_keys(stated, (), (), protective)), key=str.casefold))
