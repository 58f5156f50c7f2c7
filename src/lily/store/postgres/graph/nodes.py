"""The nodes of a lineage graph: the few fields of an asset that the graph shows."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lily.model.assets import DerivedTags, effective_tag_keys
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

NOTHING_STATED = (None, None, None)


class Node(NamedTuple):
    qualified_name: str | None = None
    name: str | None = None
    entity_type: str | None = None
    is_deleted: bool = False
    tags: tuple[str, ...] = ()
    awaits_lake: bool = False
    at_risk: Sequence[str] = ()  # ids of incidents
    stated: Sequence[Mapping[str, str] | None] = NOTHING_STATED  # tags of the layers
    parent: str | None = None
    suppressed: Collection[str] = ()
    placeholder: bool = False  # only edges have named it


async def read_nodes(
    database: Database, tenant: str, ids: Sequence[str], protective: Collection[str]
) -> dict[str, Node]:
    """The nodes that PostgreSQL has, by id; of columns in the lake those that propagation has looked up."""
    rows = await database.fetch(tenant, query("graph/nodes"), {"ids": id_array(ids)})
    return {row[0]: _node(row, protective) for row in rows}


def _node(row: Row, protective: Collection[str]) -> Node:
    _, qualified_name, name, entity_type, is_deleted, awaits_lake, stated, at_risk, parent, suppressed = row
    tags = own_tags(stated, protective) if stated else ()
    shown = (qualified_name, name, entity_type, is_deleted, tags, awaits_lake, at_risk or ())
    return Node(*shown, stated or NOTHING_STATED, parent, suppressed)


def with_derived_tags(node: Node, derived: DerivedTags, protective: Collection[str]) -> Node:
    """The node with all of its effective tags."""
    names = {**derived.inherited, **derived.propagated}
    return node._replace(tags=effective_tags(node.stated, names, node.suppressed, protective))


def own_tags(stated: Sequence[Mapping[str, str] | None], protective: Collection[str]) -> tuple[str, ...]:
    """The names of the effective tags among those that the source, enriched and user layers of an asset state."""
    return effective_tags(stated, {}, (), protective)


def effective_tags(
    stated: Sequence[Mapping[str, str] | None],
    derived: Mapping[str, str],
    suppressed: Collection[str],
    protective: Collection[str],
) -> tuple[str, ...]:
    """The names of the effective tags, in order."""
    source, enriched, user = stated
    names = {**derived, **(enriched or {}), **(user or {}), **(source or {})}
    keys = effective_tag_keys(stated, derived, suppressed, protective)
    return tuple(sorted((names[key] for key in keys), key=str.casefold))
