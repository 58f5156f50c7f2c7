"""Finds assets in both stores: in PostgreSQL first, then in the lake (decision D7)."""

from collections.abc import Iterable, Sequence

from lily.store.assets import StoredAsset
from lily.store.lake.reader import LakeReader
from lily.store.postgres.catalogue.reader import AssetReader


class Catalogue:
    """Raises LakeUnavailable only for assets that PostgreSQL does not have, or whose state in the lake has not been
    promoted to PostgreSQL yet."""

    def __init__(self, reader: AssetReader, lake: LakeReader) -> None:
        self._reader = reader
        self._lake = lake

    async def find(self, tenant: str, asset_id: str) -> StoredAsset | None:
        asset = await self._reader.find(tenant, asset_id)
        if asset is not None and not asset.awaits_lake:
            return asset
        return (await self._completed(tenant, [asset_id], {asset_id: asset} if asset else {})).get(asset_id)

    async def find_many(self, tenant: str, ids: Sequence[str]) -> dict[str, StoredAsset]:
        return await self._completed(tenant, ids, await self._reader.find_many(tenant, ids))

    async def completed(self, tenant: str, assets: Sequence[StoredAsset]) -> list[StoredAsset]:
        """Assets that were read from PostgreSQL, merged with what only the lake has of them."""
        merged = await self._completed(tenant, [asset.id for asset in assets], {asset.id: asset for asset in assets})
        return await self._with_derived_tags(tenant, [merged[asset.id] for asset in assets])

    async def _completed(self, tenant: str, ids: Iterable[str], held: dict[str, StoredAsset]) -> dict[str, StoredAsset]:
        missing = [asset_id for asset_id in ids if asset_id not in held or held[asset_id].awaits_lake]
        if not missing:
            return held
        fresh_as_of = await self._lake.fresh_as_of()  # read first: the states read next are at least as fresh
        for asset_id, state in (await self._lake.states(tenant, missing)).items():
            known = held.get(asset_id)
            held[asset_id] = known.merged_with(state) if known else StoredAsset.of_lake(state, fresh_as_of)
        found = await self._with_derived_tags(tenant, [held[asset_id] for asset_id in missing if asset_id in held])
        return held | {asset.id: asset for asset in found}

    async def _with_derived_tags(self, tenant: str, assets: list[StoredAsset]) -> list[StoredAsset]:
        """Derived tags are in PostgreSQL only, also those of assets from the lake."""
        without = [asset for asset in assets if not asset.has_derived_tags]
        tagged = {asset.id: asset for asset in await self._reader.with_derived_tags(tenant, without)} if without else {}
        return [tagged.get(asset.id, asset) for asset in assets]
