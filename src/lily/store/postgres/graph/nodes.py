"""The nodes of a lineage graph: the few fields of an asset that the graph shows."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from lily.lineage.tag_rules import TagRules
from lily.model.assets import DerivedTags, effective_tag_keys
from lily.store.postgres.asset_rows import derived_tags_of
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
    suppressed: Collection[str] = ()
    placeholder: bool = False  # only edges have named it


_made = partial(tuple.__new__, Node)  # a third of the cost of Node(…), of which a graph needs tens of thousands


async def read_nodes(database: Database, tenant: str, ids: Collection[str], rules: TagRules) -> dict[str, Node]:
    """The nodes that PostgreSQL has, by id; of columns in the lake those that propagation has looked up. With all of
    their effective tags, as far as PostgreSQL knows the parents of those that await the lake."""
    given = {"ids": id_array(ids), "tags": rules.propagating_array, "cut": rules.cut_deleted}
    rows = await database.fetch(tenant, query("graph/nodes"), given)
    nodes = {row[0]: _node(row) for row in rows if row[1] is not None}
    for asset, _, _, _, _, _, stated, _, propagated, inherited, incidents in rows:
        if stated is None and propagated is None and inherited is None and incidents is None:
            continue  # as nearly all
        node = nodes[asset] if incidents is None else nodes[asset]._replace(at_risk=incidents)
        nodes[asset] = with_derived_tags(node, derived_tags_of(rules, propagated, inherited), rules.protective)
    return nodes


def _node(row: Row) -> Node:
    """Without its tags."""
    _, name, title, kind, is_deleted, awaits_lake, stated, suppressed, _, _, _ = row
    return _made(
        (name, title, kind, is_deleted, (), awaits_lake, (), stated or NOTHING_STATED, suppressed or (), False)
    )


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
