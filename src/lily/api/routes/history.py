"""`GET /metadata/{id}/history`: what happened to an asset, newest first."""

from typing import Any

from fastapi import APIRouter

from lily.api import cursors
from lily.api.answers import History, Json
from lily.api.calls import Reads
from lily.api.pages import DEFAULT, Cursor, Limit, checked_limit
from lily.api.references import find
from lily.model import changes, clock
from lily.store.postgres.history import Change, changes_of

router = APIRouter(tags=["metadata"])


@router.get("/metadata/{id:path}/history", responses={200: {"model": History}})
async def history(id: str, call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:  # noqa: A002
    """Its changes: who, when, what, from which event."""
    asset = await find(call, id)
    question = (call.tenant, "history", asset.id)
    below = None if cursor is None else cursors.unseal(cursor, cursors.NUMBER, *question)
    asked = checked_limit(call, limit)
    found = await changes_of(call.parts.database, call.tenant, asset.id, below=below, limit=asked + 1)
    page = found[:asked]
    more = cursors.seal(page[-1].position, *question) if len(found) > asked else None
    return Json({"items": [_item(change) for change in page], "next_cursor": more})


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
