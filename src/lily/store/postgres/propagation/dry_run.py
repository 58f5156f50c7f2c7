"""The assets that a tag would reach from an asset, without writing anything: one query per level."""

from typing import NamedTuple

from lily.lineage.breadth_first import BreadthFirstSearch, Neighbour
from lily.lineage.tag_rules import TagRules
from lily.model.assets import is_cut
from lily.store.assets import StoredAsset
from lily.store.postgres.propagation.level_queries import FORWARD, level_parameters, level_query
from lily.store.postgres.sessions import Database


class ReachedAsset(NamedTuple):
    asset_id: str
    qualified_name: str | None  # None if only the lake has it
    depth: int
    via: str
    already: bool  # it has the tag now
    suppressed: bool  # the tag would not be effective there, nor propagate further


class _Asset(NamedTuple):
    qualified_name: str | None
    already: bool
    suppressed: bool


async def assets_reached(database: Database, asset: StoredAsset, rules: TagRules, tag: str) -> list[ReachedAsset]:
    """The assets that would have the tag if the asset stated it, ordered by depth. Each level is a query of its own, so
    a change that is committed meanwhile may show in one level and not in another."""
    definition = rules.definitions.get(tag)
    if definition is None or not definition.propagates or (rules.cut_deleted and is_cut(asset.layers)):
        return []
    search, assets = BreadthFirstSearch(asset.id, definition.max_depth), dict[str, _Asset]()
    while frontier := search.frontier:
        parameters = {"tag": tag, "cut": rules.cut_deleted, **level_parameters(frontier)}
        rows = await database.fetch(asset.tenant, level_query("propagation/dry_run_level", FORWARD), parameters)
        assets |= {row[0]: _Asset(*row[4:7]) for row in rows}
        search.expand(Neighbour(id_, via, hops, conducts, content) for id_, via, hops, content, *_, conducts in rows)
    reached = [
        ReachedAsset(
            id_, assets[id_].qualified_name, visit.depth, visit.via, assets[id_].already, assets[id_].suppressed
        )
        for id_, visit in search.visited.items()
    ]
    return sorted(reached, key=lambda one: (one.depth, one.asset_id))
