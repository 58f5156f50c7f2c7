"""`GET /metadata`: search and list."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import TypeAdapter

from lily.api.calls import Call, Reads
from lily.api.http import cursors
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.http.responses import Assets, Json
from lily.api.reads.references import normal, resolve
from lily.model import ids
from lily.model.assets import tag_key
from lily.model.errors import Problem, Refused
from lily.store.listing import ListPosition
from lily.store.postgres.catalogue.search import FILTERS, Filter, Order, SearchRequest, Sort

router = APIRouter(tags=["metadata"])

Text = Annotated[str | None, Query(max_length=512)]
POSITION: TypeAdapter[ListPosition] = TypeAdapter(ListPosition)


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
    """Assets that match every given filter. `q` looks for words of the name and the qualified name.

    The list of a parent's children is in the order asked for. Any other list first tells, in that order, what the
    serving store has, and then the plain columns and fields that only the lake has, in the order of their ids. Looking
    for those takes a page at most a few seconds: it may have fewer items than asked for and still a `next_cursor`.
    """
    given = (q, entity_type, tag, data_source, owner, parent)
    filters = {name: value for name, value in zip(FILTERS, given, strict=True) if value is not None}
    question = (call.tenant, sort, order, str(include_deleted), repr(sorted(filters.items())))
    position = None if cursor is None else cursors.unseal(cursor, POSITION, *question)
    listing = SearchRequest(
        filters={name: _stored_form(call, name, value) for name, value in filters.items()},
        include_deleted=include_deleted,
        sort=sort,
        order=order,
        limit=checked_limit(call, limit),
        after=position if position and len(position) == 2 else None,
    )
    start = position[0] if position and len(position) == 1 else None
    page = await call.services.lister.page(call.tenant, listing, start, _name_of(parent))
    more = cursors.seal(page.next, *question) if page.next else None
    return Json({"items": [asset.view for asset in page.assets], "next_cursor": more})


def _name_of(parent: str | None) -> str | None:
    return None if parent is None or ids.looks_like_uuid(normal(parent)) else normal(parent)


def _stored_form(call: Call, name: Filter, given: str) -> str:
    """A filter as the store compares it: names in normal form, tags folded, a parent by its id."""
    if "\x00" in given:
        raise Refused(Problem("INVALID_VALUE", f"{name} must not contain NUL", name))
    value = normal(given)
    match name:
        case "tag":
            return tag_key(value)
        case "entity_type":
            return value.lower()
        case "parent":
            return resolve(call.tenant, value)
        case _:
            return value
