"""The origins of a derived tag, searched for on request: nothing is stored per origin."""

from typing import NamedTuple

from lily.lineage.breadth_first import BreadthFirstSearch, Neighbour
from lily.store.assets import StoredAsset
from lily.store.postgres.propagation.level_queries import BACKWARD, level_parameters, level_query
from lily.store.postgres.sessions import Database

MAX_ORIGINS = 1_000
MAX_VISITED = 100_000  # assets per search; beyond that the result says that there may be more origins


class Origins(NamedTuple):
    ids: list[str]  # the nearest first
    more: bool = False


async def origins_of(database: Database, asset: StoredAsset, tag: str, most: int = MAX_ORIGINS) -> Origins:
    """Searches backwards from the asset, level by level. The search continues behind an origin: others may follow."""
    definition = asset.rules.definitions.get(tag)
    search = BreadthFirstSearch(asset.id, definition.max_depth if definition else None, content=False)
    found: dict[str, None] = {}
    while frontier := search.frontier:
        parameters = {
            "tag": tag,
            **level_parameters(frontier),
            "start": asset.id,
            "parent": asset.parent,
            "cut": asset.rules.cut_deleted,
        }
        rows = await database.fetch(asset.tenant, level_query("propagation/origins_level", BACKWARD), parameters)
        stating = {row[0] for row in rows if row[4]}
        search.expand(Neighbour(asset_id, via, hops, content=content) for asset_id, via, hops, content, _ in rows)
        found |= dict.fromkeys(asset_id for asset_id in stating if asset_id != asset.id)
        if len(found) > most or len(search.visited) > MAX_VISITED:
            return Origins(list(found)[:most], more=True)
    return Origins([asset_id for asset_id in found if asset_id in search.visited])
