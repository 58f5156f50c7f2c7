"""Reads assets by id, with the tags that reached them.

Reads that arrive while a query runs are answered together by the next one.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import cast

from psycopg import sql

from lily.lineage.tag_rules import TagRules
from lily.model.assets import NO_DERIVED_TAGS, DerivedTags
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.asset_rows import asset_of, derived_tags_of
from lily.store.postgres.copying import id_array
from lily.store.postgres.definitions.tags import Definitions
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

AT_ONCE = 2
TOGETHER = 500  # ids in one query: past that a query takes longer than it saves

_BY_ID = sql.SQL(query("catalogue/assets_by_id")).format(columns=sql.SQL(query("catalogue/asset_columns"))).as_string()
_Found = asyncio.Future[StoredAsset | None]


class AssetReader:
    """Two queries at a time for each tenant: while one runs, the answers of the other are written.

    Nothing is cached: a query serves only reads that arrived before it was sent, so whoever reads after a write was
    acknowledged as applied sees it. If the store fails, every read of the batch raises StoreUnavailable.
    """

    def __init__(self, database: Database, definitions: Definitions) -> None:
        self._database = database
        self._definitions = definitions
        self._waiting: defaultdict[str, list[tuple[str, _Found]]] = defaultdict(list)
        self._tasks: defaultdict[str, set[asyncio.Task[None]]] = defaultdict(set)

    def find(self, tenant: str, asset_id: str) -> _Found:
        found: _Found = asyncio.get_running_loop().create_future()
        self._waiting[tenant].append((asset_id, found))
        if len(self._tasks[tenant]) < AT_ONCE:
            self._tasks[tenant].add(asyncio.create_task(self._serve(tenant)))
        return found

    async def find_many(self, tenant: str, asset_ids: Sequence[str]) -> dict[str, StoredAsset]:
        rules = await self._definitions.of(tenant)
        asked = {"ids": id_array(asset_ids), "tags": rules.protective_array, "cut": rules.cut_deleted}
        rows = await self._database.fetch(tenant, _BY_ID, asked)
        return {row[0]: asset_of(tenant, row, rules) for row in rows}

    async def rules(self, tenant: str) -> TagRules:
        return await self._definitions.of(tenant)

    async def with_derived_tags(self, tenant: str, assets: Sequence[StoredAsset]) -> list[StoredAsset]:
        """Assets that were read from the lake, with the tenant's tag rules and their derived tags."""
        rules = await self._definitions.of(tenant)
        derived = await self.derived_tags(tenant, rules, {asset.id: asset.parent for asset in assets})
        return [asset.with_tag_rules(rules, derived[asset.id]) for asset in assets]

    async def derived_tags(
        self, tenant: str, rules: TagRules, parents: Mapping[str, str | None]
    ) -> dict[str, DerivedTags]:
        """The derived tags of assets, by id, if these were their parents."""
        asked = {"ids": id_array(parents), "parents": id_array(parent or "null" for parent in parents.values())}
        told = {"tags": rules.protective_array, "cut": rules.cut_deleted}
        rows = await self._database.fetch(tenant, query("catalogue/reached"), {**asked, **told})
        found = {asset_id: derived_tags_of(rules, *tags) for asset_id, *tags in rows}
        return {asset_id: found.get(asset_id, NO_DERIVED_TAGS) for asset_id in parents}

    async def _serve(self, tenant: str) -> None:
        while batch := self._take(tenant):
            try:
                assets = await self.find_many(tenant, list({asset_id for asset_id, _ in batch}))
            except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to those who wait, not to this task
                _fail(batch, error)
            else:
                _settle(batch, assets)

    def _take(self, tenant: str) -> list[tuple[str, _Found]]:
        """The next batch. None left ends the task, in the same step, so that no read falls between."""
        waiting = self._waiting[tenant]
        if not waiting:
            self._tasks[tenant].discard(cast("asyncio.Task[None]", asyncio.current_task()))
            return []
        self._waiting[tenant] = waiting[TOGETHER:]
        return waiting[:TOGETHER]


def _settle(batch: list[tuple[str, _Found]], assets: dict[str, StoredAsset]) -> None:
    for asset_id, found in batch:
        if not found.done():
            found.set_result(assets.get(asset_id))


def _fail(batch: list[tuple[str, _Found]], error: Exception) -> None:
    for _, found in batch:
        if not found.done():
            found.set_exception(error)
