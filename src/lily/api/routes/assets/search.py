"""`GET /metadata`: searches and lists assets."""

from collections.abc import Collection
from typing import Annotated

from fastapi import APIRouter, Query

from lily.api.calls import Call, Reads
from lily.api.http import cursors
from lily.api.http.openapi.responses import Assets, Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.reads.entity_types import known_type
from lily.api.reads.list_positions import POSITION, with_key, without_hidden_key
from lily.api.reads.references import normal, resolve
from lily.api.reads.visible_pages import visible_page
from lily.model import ids
from lily.model.assets import tag_key
from lily.model.errors import Problem, Refused
from lily.store.postgres.catalogue.search import FILTERS, Filter, Order, SearchRequest, Sort, Sorting

router = APIRouter(tags=["metadata"])

MAX_LENGTH = 512
Words = Annotated[
    str | None,
    Query(
        max_length=MAX_LENGTH,
        description="Words, or beginnings of words, of the name, qualified name, owner, business terms or description.",
    ),
]
Type = Annotated[str | None, Query(max_length=MAX_LENGTH, description="The entity type, such as `table` or `column`.")]
Tag = Annotated[str | None, Query(max_length=MAX_LENGTH, description="An effective tag, in any case.")]
Source = Annotated[str | None, Query(max_length=MAX_LENGTH, description="The exact data source.")]
Owner = Annotated[str | None, Query(max_length=MAX_LENGTH, description="The exact owner.")]
Parent = Annotated[str | None, Query(max_length=MAX_LENGTH, description="The id or qualified name of the parent.")]
AtRisk = Annotated[
    bool, Query(description="Only assets of open incidents, and what is downstream of them along lineage.")
]
Sorted = Annotated[Sort | None, Query(description="By default, `q` sorts by how well it matches, and others by id.")]
Deleted = Annotated[bool, Query(description="Also return deleted assets.")]


@router.get("/metadata", responses={200: {"model": Assets}})
async def list_assets(
    *,
    call: Reads,
    q: Words = None,
    entity_type: Type = None,
    tag: Tag = None,
    data_source: Source = None,
    owner: Owner = None,
    parent: Parent = None,
    at_risk: AtRisk = False,
    include_deleted: Deleted = False,
    sort: Sorted = None,
    order: Order = "asc",
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> Json:
    """Returns the assets that match every given filter.

    With `q`, and without `sort`, `parent` and `order=desc`, the best matches come first: assets with that name, then
    names that begin with it, then qualified names, then what the owner, business terms or description have.

    With `parent`, the list is sorted as requested. Any other list first has the assets that PostgreSQL holds, sorted
    as requested, and then the plain columns and fields that only the lake holds, in an order of their own. A page looks
    at a part of the assets, and searches the lake for a few seconds at most: it may have fewer items than `limit` and
    still a `next_cursor`. Assets that a policy denies to the caller are left out.
    """
    given = (q, entity_type, tag, data_source, owner, parent, "true" if at_risk else None)
    filters = {name: value for name, value in zip(FILTERS, given, strict=True) if value is not None}
    sorting = _sorting(filters, sort, order)
    question = (call.tenant, sorting, order, str(include_deleted), repr(sorted(filters.items())))
    position = (
        None
        if cursor is None
        else await with_key(call, cursors.unseal(cursor, POSITION, *question), sorting, normal(q or ""))
    )
    listing = SearchRequest(
        filters={name: _stored_form(call, name, value) for name, value in filters.items()},
        include_deleted=include_deleted,
        sort=sorting,
        order=order,
        limit=checked_limit(call, limit),
        after=position if position and len(position) == 2 else None,
    )
    start = position[0] if position and len(position) == 1 else None
    page = await visible_page(call, listing, start, _name_of(parent))
    more = cursors.seal(without_hidden_key(page.next, page.assets), *question) if page.next else None
    return Json({"items": [asset.view for asset in page.assets], "next_cursor": more})


def _sorting(filters: Collection[Filter], sort: Sort | None, order: Order) -> Sorting:
    if sort is not None:
        return sort
    return "rank" if "q" in filters and "parent" not in filters and order == "asc" else "id"


def _name_of(parent: str | None) -> str | None:
    return None if parent is None or ids.looks_like_uuid(normal(parent)) else normal(parent)


def _stored_form(call: Call, name: Filter, given: str) -> str:
    """A filter as the store compares it: names normalised, tags without case, a parent by its id."""
    if "\x00" in given:
        raise Refused(Problem("INVALID_VALUE", f"{name} must not contain NUL", name))
    value = normal(given)
    match name:
        case "tag":
            return tag_key(value)
        case "entity_type":
            return known_type(value)
        case "parent":
            return resolve(call.tenant, value)
        case _:
            return value
