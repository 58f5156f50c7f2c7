"""Placeholders: what is not in the catalogue, but was named by an edge (docs/decisions/0041). And names of nodes."""

from collections.abc import Collection

from lily.model.clock import stamp
from lily.store.assets import StoredAsset
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def find_placeholder(database: Database, tenant: str, asset_id: str) -> StoredAsset | None:
    """The placeholder as an asset about which nothing is stated; None if no edge leads to or from it. The caller has
    looked for the asset itself before."""
    rows = await database.fetch(tenant, query("graph/placeholder"), {"id": asset_id})
    if not rows:
        return None
    name, named_at = rows[0]
    at = stamp(named_at)
    return StoredAsset(tenant, asset_id, name, {}, 0, at, at)


async def named_ends(database: Database, tenant: str, asset_ids: Collection[str]) -> dict[str, str]:
    """By id, the names by which edges named assets."""
    rows = await database.fetch(tenant, query("graph/named_ends"), {"ids": id_array(asset_ids)})
    return dict(rows)


async def node_names(database: Database, tenant: str, asset_ids: Collection[str]) -> dict[str, str]:
    """By id, the names of assets, of columns that only the lake has, and of placeholders, as far as they are known."""
    rows = await database.fetch(tenant, query("graph/names"), {"ids": id_array(asset_ids)})
    return {asset: name for asset, name in rows if name is not None}
