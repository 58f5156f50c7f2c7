"""Lists of assets over both stores.

The children of one parent are few, so both stores' are put in one order. Any other list tells PostgreSQL's assets in
the order asked for, and then those that only the lake has in the order of their ids: nothing sorts a billion columns.
Of those that only the lake has, a list of a tag tells the ones that the tag reached along edges.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lily.model.assets import entity_type, is_deleted, shown_fields
from lily.model.search_terms import search_terms
from lily.model.states import AssetState
from lily.store.assets import StoredAsset
from lily.store.catalogue import Catalogue
from lily.store.lake.reader import LakeReader
from lily.store.lake.wanted import Wanted
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.catalogue.search import Listing, Page, Sort, derived_in_lake, search
from lily.store.postgres.sessions import Database

# Where a list goes on: after the key and the id of an item, or, one text only, from an id on in the lake.
Place = tuple[str, str] | tuple[str]


@dataclass(frozen=True, slots=True)
class Items:
    assets: list[StoredAsset]
    next: Place | None


class Lister:
    """A page looks through the lake for so many seconds; one that runs out of time is shorter and tells where to go
    on. Raises LakeUnavailable where a page needs the lake and it cannot be read."""

    def __init__(
        self, database: Database, reader: AssetReader, lake: LakeReader, catalogue: Catalogue, seconds: float
    ) -> None:
        self._database = database
        self._reader = reader
        self._lake = lake
        self._catalogue = catalogue
        self._seconds = seconds

    async def page(self, tenant: str, listing: Listing, start: str | None, parent_name: str | None) -> Items:
        """`start` is where the list goes on in the lake; the parent's name, where it is known, saves a look-up."""
        wanted = _wanted(listing)
        if wanted is not None and wanted.parent is not None and "tag" not in listing.filters:
            return await self._with_children(tenant, listing, wanted, parent_name)
        if start is not None and wanted is not None:
            return await self._rest(tenant, listing, wanted, start, listing.limit)
        page = await self._search(tenant, listing)
        assets = await self._catalogue.completed(tenant, page.assets)
        if page.last is not None or wanted is None:
            return Items(assets, page.last)
        rest = await self._rest(tenant, listing, wanted, "", listing.limit - len(assets))
        return Items(assets + rest.assets, rest.next)

    async def _search(self, tenant: str, listing: Listing) -> Page:
        return await search(self._database, tenant, listing, await self._reader.rules(tenant))

    async def _rest(self, tenant: str, listing: Listing, wanted: Wanted, start: str, limit: int) -> Items:
        """What only the lake has."""
        look = self._derived if "tag" in listing.filters else self._from_lake
        found = await look(tenant, listing, wanted, start, limit)
        return Items(await self._catalogue.completed(tenant, found.assets), found.next)

    async def _derived(self, tenant: str, listing: Listing, wanted: Wanted, start: str, limit: int) -> Items:
        """Only where the tag arrived along edges: who inherits one is not listed by it."""
        tag = listing.filters["tag"]
        ids = await derived_in_lake(self._database, tenant, tag, start=start, limit=limit + 1)
        fresh_as_of = await self._lake.fresh_as_of() if ids else None
        states = await self._lake.states(tenant, ids[:limit]) if ids else {}
        assets = [StoredAsset.of_lake(states[asset_id], fresh_as_of) for asset_id in ids[:limit] if asset_id in states]
        more = (ids[limit - 1] if limit else start,) if len(ids) > limit else None
        return Items([asset for asset in assets if _is_listed(asset, wanted, listing)], more)

    async def _from_lake(self, tenant: str, listing: Listing, wanted: Wanted, start: str, limit: int) -> Items:
        assets: list[StoredAsset] = []
        deadline = time.monotonic() + self._seconds
        at: str | None = start
        while at is not None and len(assets) < limit and (left := deadline - time.monotonic()) > 0:
            fresh_as_of = await self._lake.fresh_as_of()
            found = await self._lake.search(tenant, wanted, start=at, limit=limit - len(assets), seconds=left)
            held = await self._held(tenant, found.states)
            for state in found.states:
                known = held.get(state.id)
                if known is not None and _is_listed(known, wanted, listing):
                    continue  # PostgreSQL's part of the list has told of it
                asset = _whole(known, state, fresh_as_of)
                if asset is not None and _is_listed(asset, wanted, listing):
                    assets.append(asset)
            at = found.start
        return Items(assets, None if at is None else (at,))

    async def _with_children(self, tenant: str, listing: Listing, wanted: Wanted, parent_name: str | None) -> Items:
        page = await self._search(tenant, listing)
        children = {asset.id: asset for asset in await self._children(tenant, listing, wanted, parent_name)}
        beyond = [asset for asset in children.values() if listing.after is None or _is_beyond(asset, listing)]
        candidates = [asset for asset in page.assets if asset.id not in children] + beyond
        candidates.sort(key=lambda asset: _key(asset, listing.sort), reverse=listing.order == "desc")
        if page.last is not None:
            # PostgreSQL's next page may have assets that come before those of the lake which lie beyond this one.
            until = replace(listing, after=page.last)
            candidates = [asset for asset in candidates if not _is_beyond(asset, until)]
        assets = candidates[: listing.limit]
        more = _key(assets[-1], listing.sort) if len(candidates) > listing.limit else page.last
        return Items(await self._catalogue.completed(tenant, assets), more)

    async def _children(
        self, tenant: str, listing: Listing, wanted: Wanted, parent_name: str | None
    ) -> list[StoredAsset]:
        """The children that PostgreSQL does not have, or not all of."""
        parent_id = wanted.parent or ""
        if parent_name is None and (parent := await self._catalogue.find(tenant, parent_id)) is not None:
            parent_name = parent.qualified_name
        fresh_as_of = await self._lake.fresh_as_of()
        states = await self._lake.children(tenant, parent_id, parent_name)
        held = await self._held(tenant, states)
        whole = (_whole(held.get(state.id), state, fresh_as_of) for state in states)
        return [asset for asset in whole if asset is not None and _is_listed(asset, wanted, listing)]

    async def _held(self, tenant: str, states: Iterable[AssetState]) -> dict[str, StoredAsset]:
        ids = [state.id for state in states]
        return await self._reader.find_many(tenant, ids) if ids else {}


def _wanted(listing: Listing) -> Wanted | None:
    """What to look for in the lake; None where nothing there can be meant."""
    q = listing.filters.get("q")
    wanted = Wanted(
        words=None if q is None else tuple(search_terms(q)),
        entity_type=listing.filters.get("entity_type"),
        owner=listing.filters.get("owner"),
        data_source=listing.filters.get("data_source"),
        parent=listing.filters.get("parent"),
    )
    return None if wanted.is_hopeless() else wanted


def _whole(held: StoredAsset | None, state: AssetState, fresh_as_of: str | None) -> StoredAsset | None:
    """The asset of a state in the lake; None where PostgreSQL has all of it."""
    if held is None:
        return StoredAsset.of_lake(state, fresh_as_of)
    return held.merged_with(state) if held.awaits_lake else None


def _is_listed(asset: StoredAsset, wanted: Wanted, listing: Listing) -> bool:
    return (listing.include_deleted or not is_deleted(asset.layers)) and wanted.means(asset.state)


def _is_beyond(asset: StoredAsset, listing: Listing) -> bool:
    assert listing.after is not None  # noqa: S101 - asked only of lists that go on
    key = _key(asset, listing.sort)
    return key > listing.after if listing.order == "asc" else key < listing.after


def _key(asset: StoredAsset, sort: Sort) -> tuple[str, str]:
    """As PostgreSQL sorts: by code points, which is what its collation "C" compares, and times in fixed width."""
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
    return key, asset.id
