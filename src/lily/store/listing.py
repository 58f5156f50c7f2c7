"""Lists assets of both stores.

A parent has few children, so its children from both stores are sorted together. Any other list has first the assets of
PostgreSQL in the requested order, then those that only the lake has in the order in which it is searched, because
nothing sorts a billion columns. A list by tag, or of what is at risk, includes assets that only the lake has if that
reached them along edges.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lily.model.assets import entity_type, is_deleted, shown_fields
from lily.model.search_terms import search_terms, searched
from lily.model.states import AssetState
from lily.store.assets import StoredAsset
from lily.store.catalogue import Catalogue
from lily.store.lake.asset_filter import AssetFilter
from lily.store.lake.hidden_assets import hidden_assets
from lily.store.lake.reader import LakeReader
from lily.store.lake.scans import after
from lily.store.postgres.catalogue.candidates import rank_key
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.catalogue.search import SearchRequest, SearchResult, Sorting, lake_assets_by_lineage, search
from lily.store.postgres.sessions import Database

# Where the next page starts: after the sort key and id of an item, or (one element) at an id in the lake.
ListPosition = tuple[str, str] | tuple[str]


@dataclass(frozen=True, slots=True)
class AssetPage:
    """`sorted` are the assets in the requested order, which come first, as they were sorted: what the lake adds
    to them can change their keys. The others are in the order of the lake."""

    assets: list[StoredAsset]
    next: ListPosition | None
    sorted: Sequence[StoredAsset] = ()

    def position_after(self, index: int, request: SearchRequest) -> ListPosition:
        """Where a list that ends with this asset of the page continues."""
        if index < len(self.sorted):
            return sort_key(self.sorted[index], request.sort, request.filters.get("q", ""))
        asset_id = self.assets[index].id
        return (asset_id if request.by_lineage else after(asset_id),)


@dataclass(frozen=True, slots=True)
class Lister:
    """Searches the lake for at most `seconds` per page; a page that runs out of time is shorter and has a next
    position. Raises LakeUnavailable if a page needs the lake and it cannot be read."""

    database: Database
    reader: AssetReader
    lake: LakeReader
    catalogue: Catalogue
    seconds: float

    async def page(self, tenant: str, request: SearchRequest, start: str | None, parent_name: str | None) -> AssetPage:
        """`start` is where the list continues in the lake. Passing the parent's name, if known, saves a look-up."""
        condition = _lake_filter(request)
        if condition is not None and condition.parent is not None and not request.by_lineage:
            return await self._with_children(tenant, request, condition, parent_name)
        if start is not None and condition is not None:
            return await self._rest(tenant, request, condition, start, request.limit)
        page = await self._search(tenant, request)
        assets = await self.catalogue.completed(tenant, page.assets)
        if page.last is not None or condition is None:
            return AssetPage(assets, page.last, page.assets)
        rest = await self._rest(tenant, request, condition, "", request.limit - len(assets))
        return AssetPage(assets + rest.assets, rest.next, page.assets)

    async def _search(self, tenant: str, request: SearchRequest) -> SearchResult:
        return await search(self.database, tenant, request, await self.reader.rules(tenant))

    async def _rest(
        self, tenant: str, request: SearchRequest, condition: AssetFilter, start: str, limit: int
    ) -> AssetPage:
        """Assets that only the lake has."""
        look = self._by_lineage if request.by_lineage else self._from_lake
        found = await look(tenant, request, condition, start, limit)
        return AssetPage(await self.catalogue.completed(tenant, found.assets), found.next)

    async def _by_lineage(
        self, tenant: str, request: SearchRequest, condition: AssetFilter, start: str, limit: int
    ) -> AssetPage:
        """Assets that the tag or the risk reached along edges; such a list leaves out those that only inherit it."""
        ids = await lake_assets_by_lineage(self.database, tenant, request.filters, start=start, limit=limit + 1)
        fresh_as_of = await self.lake.fresh_as_of() if ids else None
        states = await self.lake.states(tenant, ids[:limit]) if ids else {}
        assets = [StoredAsset.of_lake(states[asset_id], fresh_as_of) for asset_id in ids[:limit] if asset_id in states]
        more = (ids[limit - 1] if limit else start,) if len(ids) > limit else None
        return AssetPage([asset for asset in assets if _is_listed(asset, condition, request)], more)

    async def _from_lake(
        self, tenant: str, request: SearchRequest, condition: AssetFilter, start: str, limit: int
    ) -> AssetPage:
        assets: list[StoredAsset] = []
        deadline = time.monotonic() + self.seconds
        at: str | None = start
        while at is not None and len(assets) < limit and (left := deadline - time.monotonic()) > 0:
            fresh_as_of = await self.lake.fresh_as_of()
            found = await self.lake.search(tenant, condition, start=at, limit=limit - len(assets), seconds=left)
            held = await self._held(tenant, found.states)
            for state in found.states:
                known = held.get(state.id)
                if known is not None and _is_listed(known, condition, request):
                    continue  # already listed, in PostgreSQL's part
                asset = _merged(known, state, fresh_as_of)
                if asset is not None and _is_listed(asset, condition, request):
                    assets.append(asset)
            at = found.next_start
        return AssetPage(assets, None if at is None else (at,))

    async def _with_children(
        self, tenant: str, request: SearchRequest, condition: AssetFilter, parent_name: str | None
    ) -> AssetPage:
        page = await self._search(tenant, request)
        children = {asset.id: asset for asset in await self._children(tenant, request, condition, parent_name)}
        beyond = [asset for asset in children.values() if request.after is None or _is_beyond(asset, request)]
        candidates = [asset for asset in page.assets if asset.id not in children] + beyond
        candidates.sort(key=lambda asset: sort_key(asset, request.sort), reverse=request.order == "desc")
        if page.last is not None:
            # Assets of the lake beyond this page may sort after assets of PostgreSQL's next page.
            until = replace(request, after=page.last)
            candidates = [asset for asset in candidates if not _is_beyond(asset, until)]
        assets = candidates[: request.limit]
        more = sort_key(assets[-1], request.sort) if len(candidates) > request.limit else page.last
        return AssetPage(await self.catalogue.completed(tenant, assets), more, assets)

    async def _children(
        self, tenant: str, request: SearchRequest, condition: AssetFilter, parent_name: str | None
    ) -> list[StoredAsset]:
        """The children that PostgreSQL does not have, or has only in part."""
        parent_id = condition.parent or ""
        if parent_name is None and (parent := await self.catalogue.find(tenant, parent_id)) is not None:
            parent_name = parent.qualified_name
        fresh_as_of = await self.lake.fresh_as_of()
        states = await self.lake.children(tenant, parent_id, parent_name)
        held = await self._held(tenant, states)
        merged = (_merged(held.get(state.id), state, fresh_as_of) for state in states)
        return [asset for asset in merged if asset is not None and _is_listed(asset, condition, request)]

    async def _held(self, tenant: str, states: Iterable[AssetState]) -> dict[str, StoredAsset]:
        ids = [state.id for state in states]
        return await self.reader.find_many(tenant, ids) if ids else {}


def _lake_filter(request: SearchRequest) -> AssetFilter | None:
    """The filter for the lake; None if no asset there can match."""
    q = request.filters.get("q")
    condition = AssetFilter(
        terms=None if q is None else tuple(search_terms(q)),
        entity_type=request.filters.get("entity_type"),
        hidden=hidden_assets(request.hidden),
        owner=request.filters.get("owner"),
        data_source=request.filters.get("data_source"),
        parent=request.filters.get("parent"),
    )
    return None if condition.matches_nothing() else condition


def _merged(held: StoredAsset | None, state: AssetState, fresh_as_of: str | None) -> StoredAsset | None:
    """The asset of a state in the lake; None if PostgreSQL has all of it."""
    if held is None:
        return StoredAsset.of_lake(state, fresh_as_of)
    return held.merged_with(state) if held.awaits_lake else None


def _is_listed(asset: StoredAsset, condition: AssetFilter, request: SearchRequest) -> bool:
    return (request.include_deleted or not is_deleted(asset.layers)) and condition.matches(asset.state)


def _is_beyond(asset: StoredAsset, request: SearchRequest) -> bool:
    assert request.after is not None  # noqa: S101 - only called for a page after the first
    key = sort_key(asset, request.sort)
    return key > request.after if request.order == "asc" else key < request.after


def sort_key(asset: StoredAsset, sort: Sorting, q: str = "") -> tuple[str, str]:
    """Sorts like PostgreSQL: by code point, as its collation "C" does, and times in fixed width. A rank is of `q`."""
    match sort:
        case "id":
            key = asset.id
        case "name":
            key = str(shown_fields(asset.layers).get("name") or "")
        case "qualified_name":
            key = asset.qualified_name
        case "entity_type":
            key = entity_type(asset.layers)
        case "created_at":
            key = asset.state.first
        case "updated_at":
            key = asset.state.last
        case "rank":
            terms = searched(asset.qualified_name, shown_fields(asset.layers))
            key = rank_key(terms.rank(search_terms(q)), asset.id)
    return key, asset.id
