"""A row of `asset_columns.sql` as an asset."""

from lily.model.assets import LAYERS
from lily.model.layers import Layer
from lily.store.assets import StoredAsset
from lily.store.postgres.sessions import Row


def asset_of(tenant: str, row: Row) -> StoredAsset:
    layers = {
        name: Layer(*row[start : start + 3])
        for name, start in zip(LAYERS, (5, 8, 11), strict=True)
        if row[start] is not None
    }
    return StoredAsset(tenant, row[0], row[1], layers, row[2], row[3], row[4], row[14])
