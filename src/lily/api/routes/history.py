"""`GET /metadata/{id}/history`: what happened to an asset, newest first."""

from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter
from pydantic import Field, TypeAdapter

from lily.api import cursors
from lily.api.answers import History, Json
from lily.api.calls import Call, Reads
from lily.api.pages import DEFAULT, Cursor, Limit, checked_limit
from lily.api.past import skew_of
from lily.api.references import find
from lily.bus import topics
from lily.model import changes, clock
from lily.model.assets import entity_type
from lily.model.lanes import BULK_TYPES
from lily.store.assets import StoredAsset
from lily.store.lake.past import Step, steps
from lily.store.postgres.fold import cause
from lily.store.postgres.history import Change, changes_of
from lily.store.postgres.located import batch_by

router = APIRouter(tags=["metadata"])

_Number = Annotated[int, Field(ge=0, lt=2**63)]  # PostgreSQL's bigint
_EVERY = 2**62  # a batch that no lake comes to


class Place(NamedTuple):
    """Where a history goes on: below a position of the change log, or, where it is past that, of the lake's events
    up to a batch."""

    below: int | None = None
    batch: int | None = None


PLACE: TypeAdapter[tuple[int | None, int | None]] = TypeAdapter(tuple[_Number | None, _Number | None])
Page = tuple[list[dict[str, Any]], Place | None]


@router.get("/metadata/{id:path}/history", responses={200: {"model": History}})
async def history(id: str, call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:  # noqa: A002
    """Its changes: who, when, what, from which event. Positions of a column that was once in the lake alone begin anew
    where its changes there begin."""
    asset = await find(call, id)
    question = (call.tenant, "history", asset.id)
    place = Place() if cursor is None else Place(*cursors.unseal(cursor, PLACE, *question))
    asked = checked_limit(call, limit)
    items, more = await _changes(call, asset, place, asked) if place.batch is None else ([], place)
    if more is not None and more.batch is not None and len(items) < asked:
        earlier, more = await _earlier(call, asset, more, asked - len(items))
        items += earlier
    return Json({"items": items, "next_cursor": cursors.seal(tuple(more), *question) if more else None})


async def _changes(call: Call, asset: StoredAsset, place: Place, limit: int) -> Page:
    """What the change log of the serving store tells."""
    found = await changes_of(call.parts.database, call.tenant, asset.id, below=place.below, limit=limit + 1)
    page = found[:limit]
    items = [_item(change) for change in page]
    if len(found) > limit:
        return items, Place(page[-1].position)
    if entity_type(asset.layers) not in BULK_TYPES:
        return items, None
    if not found:
        return items, Place(batch=_EVERY)
    return items, Place(batch=await batch_by(call.parts.database, clock.stamp(page[-1].committed_at)))


async def _earlier(call: Call, asset: StoredAsset, place: Place, limit: int) -> Page:
    """What the bulk lane's events tell that were in the lake before the serving store took the asset over."""
    events = [
        event
        for event in await call.parts.lake.events(call.tenant, asset.id)
        if event.topic == topics.ASSETS_BULK and event.batch <= (place.batch or 0)
    ]
    found = steps(call.tenant, asset.id, events, skew_of(call))
    below = [step for step in reversed(found) if place.below is None or step.position < place.below]
    page = below[:limit]
    more = Place(page[-1].position, place.batch) if len(below) > limit else None
    return [_step(step) for step in page], more


def _item(change: Change) -> dict[str, Any]:
    return {
        "position": change.position,
        "version": change.version,
        "layer": change.layer,
        "change": changes.kind(change.before, change.after),
        "what": changes.differences(change.before, change.after),
        "causes": change.causes,
        "at": clock.stamp(change.committed_at),
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "position": step.position,
        "version": step.version,
        "layer": step.event.statement.layer,
        "change": changes.kind(step.before, step.after),
        "what": changes.differences(step.before, step.after),
        "causes": [cause(step.event)],
        "at": step.received,
    }
