"""An asset as the store holds it, and as the contract shows it."""

from functools import cached_property
from typing import Any

import orjson

from lily.model import clock
from lily.model.assets import LAYERS, LayerName, asset_view
from lily.model.layers import Layer
from lily.store.postgres.sessions import Row


class StoredAsset:
    """One row of `asset_columns.sql`. Requests that were answered together share one, and what it has worked out."""

    def __init__(self, tenant: str, row: Row) -> None:
        self.tenant = tenant
        self.id: str = row[0]
        self.qualified_name: str = row[1]
        self._version: int = row[2]
        self._created_at: str = row[3]  # in fixed width, as everywhere
        self._updated_at: str = row[4]
        self.layers: dict[LayerName, Layer] = {
            name: Layer(*row[start : start + 3])
            for name, start in zip(LAYERS, (5, 8, 11), strict=True)
            if row[start] is not None
        }

    @cached_property
    def view(self) -> dict[str, Any]:
        source = self.layers.get("source")
        return asset_view(
            metadata_id=self.id,
            tenant_id=self.tenant,
            qualified_name=self.qualified_name,
            layers=self.layers,
            version=self._version,
            created_at=self._created_at,
            updated_at=self._updated_at,
            fresh_as_of=clock.time_of(source.at) if source else self._updated_at,
        )

    @cached_property
    def json(self) -> bytes:
        return orjson.dumps(self.view)
