"""Where a derived tag comes from: its origins, worked out when somebody asks. Nothing stored grows with them."""

from typing import NamedTuple

from lily.lineage.breadth_first import BreadthFirstSearch, Neighbour
from lily.store.assets import StoredAsset
from lily.store.postgres.copying import id_array
from lily.store.postgres.propagation.levels import backwards
from lily.store.postgres.sessions import Database

MOST_ORIGINS = 1_000
MOST_VISITED = 100_000  # assets on the way back: past that the answer says that there may be more


class Origins(NamedTuple):
    ids: list[str]  # the nearest first
    more: bool = False


async def origins_of(database: Database, asset: StoredAsset, tag: str, most: int = MOST_ORIGINS) -> Origins:
    """Walks backwards from the asset, a level at a time. An origin behind another origin is one too."""
    definition = asset.rules.definitions.get(tag)
    reach = BreadthFirstSearch(asset.id, definition.max_depth if definition else None)
    found: dict[str, None] = {}
    while frontier := reach.frontier:
        asked = {
            "tag": tag,
            "ids": id_array(frontier),
            "start": asset.id,
            "parent": asset.parent,
            "cut": asset.rules.cut_deleted,
        }
        rows = await database.fetch(asset.tenant, backwards(), asked)
        stating = {row[0] for row in rows if row[3]}
        reach.expand(Neighbour(asset_id, via, hops) for asset_id, via, hops, _ in rows)
        found |= dict.fromkeys(asset_id for asset_id in stating if asset_id != asset.id)
        if len(found) > most or len(reach.visited) > MOST_VISITED:
            return Origins(list(found)[:most], more=True)
    return Origins([asset_id for asset_id in found if asset_id in reach.visited])
