"""Where the next page of a list begins, without telling what a policy hides.

A page can end at an asset that it does not show: one that was examined and that a policy denies to the caller. Callers
can read a cursor, so such a position names the asset by its id alone, and its sort key is looked up again.
"""

from collections.abc import Sequence

from pydantic import TypeAdapter

from lily.api.calls import Call
from lily.model.errors import Problem, Refused
from lily.store.assets import StoredAsset
from lily.store.listing import ListPosition, sort_key
from lily.store.postgres.catalogue.search import Sorting

Position = ListPosition | tuple[None, str]
POSITION: TypeAdapter[Position] = TypeAdapter(Position)


def without_hidden_key(position: ListPosition, shown: Sequence[StoredAsset]) -> Position:
    """The position as a cursor may hold it."""
    if len(position) == 1 or any(asset.id == position[1] for asset in shown):
        return position
    return None, position[1]


async def with_key(call: Call, position: Position, sort: Sorting, q: str) -> ListPosition:
    """Raises Refused if the position names an asset that does not exist."""
    if len(position) == 1:
        return position
    key, asset_id = position
    if key is not None:
        return key, asset_id
    asset = await call.services.catalogue.find(call.tenant, asset_id)
    if asset is None:
        description = "the cursor names an asset that does not exist; start again without a cursor"
        raise Refused(Problem("INVALID_CURSOR", description, "cursor"))
    return sort_key(asset, sort, q)
