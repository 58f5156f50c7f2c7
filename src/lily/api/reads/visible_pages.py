"""Pages of a list without the assets that policies deny to the caller.

The store leaves out what a query can decide; the rest is filtered here, and the page is filled up by a few more reads.
"""

from dataclasses import replace

from lily.api.auth.authorisation import context_of, visible
from lily.api.auth.restrictions import Restrictions, restrictions_of
from lily.api.calls import Call
from lily.store.assets import StoredAsset
from lily.store.listing import AssetPage, ListPosition
from lily.store.postgres.catalogue.search import SearchRequest

MAX_READS = 5  # of one page; a page that is still not full has a next position
REFILL = 100  # assets that a further read takes at least


async def visible_page(call: Call, request: SearchRequest, start: str | None, parent_name: str | None) -> AssetPage:
    """As `Lister.page`. For an unrestricted caller it is the same read."""
    restrictions = await restrictions_of(call.services, call.principal, "READ")
    if restrictions is None:
        return await call.services.lister.page(call.tenant, request, start, parent_name)
    return await _restricted_page(call, restrictions, request, start, parent_name)


async def _restricted_page(
    call: Call, restrictions: Restrictions, request: SearchRequest, start: str | None, parent_name: str | None
) -> AssetPage:
    hidden = restrictions.visibility(context_of(call)).hidden
    if hidden.everything:
        return AssetPage([], None)
    found = list[StoredAsset]()
    more: ListPosition | None = None
    rest = replace(request, hidden=hidden)
    for _ in range(MAX_READS):
        page = await call.services.lister.page(call.tenant, rest, start, parent_name)
        shown = await visible(call, restrictions, page.assets)
        room = request.limit - len(found)
        found += shown[:room]
        more = page.next if len(shown) <= room else page.position_after(page.assets.index(shown[room - 1]), rest)
        if more is None or len(found) == request.limit:
            break
        rest, start = _continued(rest, more)
    return AssetPage(found, more)


def _continued(request: SearchRequest, at: ListPosition) -> tuple[SearchRequest, str | None]:
    """A position has one element in the lake, and two in PostgreSQL. What is read too much is read again later."""
    limit = max(request.limit, REFILL)
    if len(at) == 1:
        return replace(request, limit=limit, after=None), at[0]
    return replace(request, limit=limit, after=at), None
