"""`GET /metadata`: search and list."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import TypeAdapter

from lily.api import cursors
from lily.api.answers import Assets, Json
from lily.api.calls import Call, Reads
from lily.api.pages import DEFAULT, Cursor, Limit, checked_limit
from lily.api.references import normal, resolve
from lily.model.assets import fold_tag
from lily.model.errors import Problem, Refused
from lily.store.postgres.search import FILTERS, Filter, Listing, Order, Sort, search

router = APIRouter(tags=["metadata"])

Text = Annotated[str | None, Query(max_length=512)]
LAST: TypeAdapter[tuple[str, str]] = TypeAdapter(tuple[str, str])  # the sort key and the id of a page's last item


@router.get("/metadata", responses={200: {"model": Assets}})
async def list_assets(
    *,
    call: Reads,
    q: Text = None,
    entity_type: Text = None,
    tag: Text = None,
    data_source: Text = None,
    owner: Text = None,
    parent: Text = None,
    include_deleted: bool = False,
    sort: Sort = "id",
    order: Order = "asc",
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> Json:
    """Assets that match every given filter. `q` looks for words of the name and the qualified name."""
    given = (q, entity_type, tag, data_source, owner, parent)
    filters = {name: value for name, value in zip(FILTERS, given, strict=True) if value is not None}
    question = (call.tenant, sort, order, str(include_deleted), repr(sorted(filters.items())))
    listing = Listing(
        filters={name: _stored_form(call, name, value) for name, value in filters.items()},
        include_deleted=include_deleted,
        sort=sort,
        order=order,
        limit=checked_limit(call, limit),
        after=None if cursor is None else cursors.unseal(cursor, LAST, *question),
    )
    page = await search(call.parts.database, call.tenant, listing)
    more = cursors.seal(page.last, *question) if page.last else None
    return Json({"items": [asset.view for asset in page.assets], "next_cursor": more})


def _stored_form(call: Call, name: Filter, given: str) -> str:
    """A filter as the store compares it: names in normal form, tags folded, a parent by its id."""
    if "\x00" in given:
        raise Refused(Problem("INVALID_VALUE", f"{name} must not contain NUL", name))
    value = normal(given)
    match name:
        case "tag":
            return fold_tag(value)
        case "entity_type":
            return value.lower()
        case "parent":
            return resolve(call.tenant, value)
        case _:
            return value
