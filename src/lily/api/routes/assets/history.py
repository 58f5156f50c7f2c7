"""`GET /metadata/{id}/history`: the changes of an asset, newest first."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter
from pydantic import Field, TypeAdapter

from lily.api.calls import Call, Reads
from lily.api.http import cursors
from lily.api.http.openapi.parameters import AssetId
from lily.api.http.openapi.responses import History, Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.reads.as_of import skew_of
from lily.api.reads.references import find
from lily.bus import topics
from lily.model import changes, clock
from lily.model.assets import entity_type
from lily.model.causes import cause_of
from lily.model.lanes import BULK_TYPES
from lily.store.assets import StoredAsset
from lily.store.lake.event_replay import ReplayedChange, ReplayedHistory, replay_history
from lily.store.postgres.catalogue.history import changes_of
from lily.store.postgres.lake.snapshot import newest_batch_before_promotion
from lily.store.postgres.outbox.batches import Change

router = APIRouter(tags=["metadata"])


class HistoryPosition(NamedTuple):
    """Where the next page begins: below a position of the change log, or of the lake's events."""

    below: int | None = None
    in_lake: bool = False


POSITION: TypeAdapter[tuple[int | None, bool]] = TypeAdapter(
    tuple[Annotated[int, Field(ge=0, lt=2**63)] | None, bool]  # PostgreSQL's bigint
)
Page = tuple[list[dict[str, Any]], HistoryPosition | None]


@router.get("/metadata/{id:text}/history", responses={200: {"model": History}})
async def history(id: AssetId, call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:  # noqa: A002
    """Returns the changes of an asset, newest first: who changed what, when, and by which event.

    Changes of a column from the time when only the lake had it come last; their versions and positions are counted
    separately.
    """
    asset = await find(call, id)
    question = (call.tenant, "history", asset.id)
    position = HistoryPosition() if cursor is None else HistoryPosition(*cursors.unseal(cursor, POSITION, *question))
    size = checked_limit(call, limit)
    earlier = await _earlier(call, asset)
    items: list[dict[str, Any]] = []
    more: HistoryPosition | None = position
    if not position.in_lake:
        items, more = await _changes(call, asset, position, size, earlier.event_ids)
    if more is None or more.in_lake:
        older, more = _in_lake(earlier.changes, more or HistoryPosition(in_lake=True), size - len(items))
        items += older
    return Json({"items": items, "next_cursor": cursors.seal(tuple(more), *question) if more else None})


async def _earlier(call: Call, asset: StoredAsset) -> ReplayedHistory:
    """The changes in the lake before the asset was promoted to PostgreSQL."""
    if entity_type(asset.layers) not in BULK_TYPES:
        return ReplayedHistory([], set())
    until = await newest_batch_before_promotion(call.services.database, call.tenant, asset.id)
    events = await call.services.lake.events(call.tenant, asset.id)
    bulk = [event for event in events if event.topic == topics.ASSETS_BULK and (until is None or event.batch <= until)]
    return replay_history(call.tenant, asset.id, bulk, skew_of(call))


async def _changes(call: Call, asset: StoredAsset, position: HistoryPosition, limit: int, promoted: set[str]) -> Page:
    """The changes in PostgreSQL, without those that promotion made: the lake reports them at their own time."""
    found = await changes_of(call.services.database, call.tenant, asset.id, below=position.below, limit=limit + 1)
    page = found[:limit]
    items = [_item(change) for change in page if not promoted.issuperset(cause["id"] for cause in change.causes)]
    return items, HistoryPosition(page[-1].position) if len(found) > limit else None


def _in_lake(earlier: Sequence[ReplayedChange], position: HistoryPosition, limit: int) -> Page:
    below = [step for step in reversed(earlier) if position.below is None or step.position < position.below]
    if not limit and below:
        return [], position
    page = below[:limit]
    more = HistoryPosition(page[-1].position, in_lake=True) if len(below) > limit else None
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


def _step(step: ReplayedChange) -> dict[str, Any]:
    return {
        "position": step.position,
        "version": step.version,
        "layer": step.event.statement.layer,
        "change": changes.kind(step.before, step.after),
        "what": changes.differences(step.before, step.after),
        "causes": [cause_of(step.event)],
        "at": step.received,
    }
