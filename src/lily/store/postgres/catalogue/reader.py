"""Reads assets by id, with their derived tags and the incidents that put them at risk.

Reads that arrive while a query runs are batched into the next query.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, cast

from psycopg import sql

from lily.lineage.tag_rules import TagRules
from lily.model.assets import NO_DERIVED_TAGS, DerivedTags, held_parents
from lily.store.assets import StoredAsset
from lily.store.postgres.asset_rows import asset_of, derived_tags_of
from lily.store.postgres.copying import id_array
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

CONCURRENT_QUERIES = 2  # per tenant
IDS_PER_QUERY = 500  # a larger query takes longer than it saves

_BY_ID = sql.SQL(query("catalogue/assets_by_id")).format(columns=sql.SQL(query("catalogue/asset_columns"))).as_string()
PendingAsset = asyncio.Future[StoredAsset | None]


class AssetReader:
    """Runs at most two queries per tenant at a time: while one runs, the responses of the other are written.

    Nothing is cached: a query serves only reads that arrived before it was sent, so a read that follows an applied
    write sees that write. If the store fails, every read of the batch raises StoreUnavailable.
    """

    def __init__(self, database: Database, tag_rules: TagRulesCache) -> None:
        self._database = database
        self._tag_rules = tag_rules
        self._waiting: defaultdict[str, list[tuple[str, PendingAsset]]] = defaultdict(list)
        self._tasks: defaultdict[str, set[asyncio.Task[None]]] = defaultdict(set)

    def find(self, tenant: str, asset_id: str) -> PendingAsset:
        pending: PendingAsset = asyncio.get_running_loop().create_future()
        self._waiting[tenant].append((asset_id, pending))
        if len(self._tasks[tenant]) < CONCURRENT_QUERIES:
            self._tasks[tenant].add(asyncio.create_task(self._serve(tenant)))
        return pending

    async def find_many(self, tenant: str, asset_ids: Sequence[str]) -> dict[str, StoredAsset]:
        rules = await self._tag_rules.get(tenant)
        parameters = {"ids": id_array(asset_ids), "tags": rules.propagating_array, "cut": rules.cut_deleted}
        rows = await self._database.fetch(tenant, _BY_ID, parameters)
        return {row[0]: asset_of(tenant, row, rules) for row in rows}

    async def rules(self, tenant: str) -> TagRules:
        return await self._tag_rules.get(tenant)

    async def with_derived_tags(self, tenant: str, assets: Sequence[StoredAsset]) -> list[StoredAsset]:
        """Assets that were read from the lake, with the tenant's tag rules, their derived tags and their incidents."""
        rules = await self._tag_rules.get(tenant)
        parents = {asset.id: asset.parent for asset in assets}
        held = [(asset.id, parent) for asset in assets for parent in sorted(held_parents(asset.layers))]
        parameters = {
            **_parameters(rules, parents),
            "held_ids": id_array(asset_id for asset_id, _ in held),
            "held_parents": id_array(parent for _, parent in held),
        }
        rows = await self._database.fetch(tenant, query("catalogue/reached"), parameters)
        reached = {row[0]: (derived_tags_of(rules, row[1], row[2]), row[3] or ()) for row in rows}
        return [asset.with_tag_rules(rules, *reached.get(asset.id, (NO_DERIVED_TAGS, ()))) for asset in assets]

    async def derived_tags(
        self, tenant: str, rules: TagRules, parents: Mapping[str, str | None]
    ) -> dict[str, DerivedTags]:
        """The derived tags that assets have, or would have, with these parents. By id."""
        rows = await self._database.fetch(tenant, query("catalogue/derived_tags"), _parameters(rules, parents))
        derived = {asset_id: derived_tags_of(rules, *tags) for asset_id, *tags in rows}
        return {asset_id: derived.get(asset_id, NO_DERIVED_TAGS) for asset_id in parents}

    async def _serve(self, tenant: str) -> None:
        while batch := self._take(tenant):
            try:
                assets = await self.find_many(tenant, list({asset_id for asset_id, _ in batch}))
            except Exception as error:  # noqa: BLE001 - every error belongs to the waiting reads, not to this task
                _fail(batch, error)
            else:
                _resolve(batch, assets)

    def _take(self, tenant: str) -> list[tuple[str, PendingAsset]]:
        """The next batch. If there is none, the task ends in the same step, so that no read is left without a task."""
        waiting = self._waiting[tenant]
        if not waiting:
            self._tasks[tenant].discard(cast("asyncio.Task[None]", asyncio.current_task()))
            return []
        self._waiting[tenant] = waiting[IDS_PER_QUERY:]
        return waiting[:IDS_PER_QUERY]


def _parameters(rules: TagRules, parents: Mapping[str, str | None]) -> dict[str, Any]:
    return {
        "ids": id_array(parents),
        "parents": id_array(parent or "null" for parent in parents.values()),
        "tags": rules.propagating_array,
        "cut": rules.cut_deleted,
    }


def _resolve(batch: list[tuple[str, PendingAsset]], assets: dict[str, StoredAsset]) -> None:
    for asset_id, pending in batch:
        if not pending.done():
            pending.set_result(assets.get(asset_id))


def _fail(batch: list[tuple[str, PendingAsset]], error: Exception) -> None:
    for _, pending in batch:
        if not pending.done():
            pending.set_exception(error)
