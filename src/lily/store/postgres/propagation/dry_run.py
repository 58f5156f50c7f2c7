"""What a tag would reach from an asset, without writing anything: one query a level."""

from typing import NamedTuple

from lily.lineage.breadth_first import BreadthFirstSearch, Neighbour
from lily.lineage.tag_rules import TagRules
from lily.model.assets import is_deleted
from lily.store.assets import StoredAsset
from lily.store.postgres.copying import id_array
from lily.store.postgres.propagation.levels import forwards
from lily.store.postgres.sessions import Database


class Reached(NamedTuple):
    asset_id: str
    qualified_name: str | None  # None where only the lake knows it
    depth: int
    via: str
    already: bool  # it has the tag now
    suppressed: bool  # there it would not be effective, nor travel on


class _Seen(NamedTuple):
    qualified_name: str | None
    already: bool
    suppressed: bool


async def reach_of(database: Database, asset: StoredAsset, rules: TagRules, tag: str) -> list[Reached]:
    """All that would have the tag if the asset stated it, in order of depth. Other changes that are committed while it
    is asked for may show in one level and not in another."""
    definition = rules.definitions.get(tag)
    if definition is None or not definition.propagates or (rules.cut_deleted and is_deleted(asset.layers)):
        return []
    reach, seen = BreadthFirstSearch(asset.id, definition.max_depth), dict[str, _Seen]()
    while frontier := reach.frontier:
        asked = {"tag": tag, "ids": id_array(frontier), "cut": rules.cut_deleted}
        rows = await database.fetch(asset.tenant, forwards(), asked)
        seen |= {row[0]: _Seen(*row[3:6]) for row in rows}
        reach.expand(Neighbour(id_, via, hops, conducts) for id_, via, hops, *_, conducts in rows)
    found = [
        Reached(id_, seen[id_].qualified_name, place.depth, place.via, seen[id_].already, seen[id_].suppressed)
        for id_, place in reach.visited.items()
    ]
    return sorted(found, key=lambda one: (one.depth, one.asset_id))
