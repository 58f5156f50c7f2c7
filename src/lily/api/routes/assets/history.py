"""`GET /metadata/{id}/history`: the changes of an asset, newest first."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, TypeAdapter

from lily.api.calls import Reads
from lily.api.http import cursors
from lily.api.http.openapi.parameters import AssetId
from lily.api.http.openapi.responses import History, Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.reads.as_of import skew_of
from lily.api.reads.asset_history import BEGINNING, AssetHistory, HistoryPosition
from lily.api.reads.references import find

router = APIRouter(tags=["metadata"])

POSITION: TypeAdapter[tuple[int | None, bool, str | None]] = TypeAdapter(
    tuple[Annotated[int, Field(ge=0, lt=2**63)] | None, bool, str | None]  # PostgreSQL's bigint
)


@router.get("/metadata/{id:text}/history", responses={200: {"model": History}})
async def history(id: AssetId, call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:  # noqa: A002
    """Returns the changes of an asset, newest first: who changed what, when, and by which event.

    Changes of a column from the time when only the lake had it, and those that have left PostgreSQL by age, come last;
    their versions and positions are counted separately.
    """
    asset = await find(call, id)
    question = (call.tenant, "history", asset.id)
    position = BEGINNING if cursor is None else HistoryPosition(*cursors.unseal(cursor, POSITION, *question))
    services = call.services
    found = AssetHistory(services.database, services.lake, call.tenant, asset, skew_of(call))
    items, more = await found.page(position, checked_limit(call, limit))
    return Json({"items": items, "next_cursor": cursors.seal(tuple(more), *question) if more else None})
