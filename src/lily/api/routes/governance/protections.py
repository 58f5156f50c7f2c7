"""`/protections/pending`: what ended without authority and still conducts protective tags, to confirm or undo it."""

from typing import Annotated

from fastapi import APIRouter, Path

from lily.api.calls import Anyone, Call
from lily.api.http import cursors
from lily.api.http.bodies import read_body
from lily.api.http.errors import Declined, forbidden, not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.protections import (
    CONFIRM,
    DecidedItem,
    DecidedItems,
    DecidedOne,
    PendingIdsBody,
    PendingItems,
)
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.protections.deciding import decide
from lily.api.protections.listing import POSITION, pending_page
from lily.lineage.pending_decisions import Decision
from lily.model.errors import Problem

PATH = "/protections/pending"

NEEDS_OTHERS = (
    "the asset has an earlier parent that would end with this one; review its item in GET /protections/pending, and "
    "confirm both with POST /protections/pending/confirm"
)

TOO_EARLY = (
    "what would end is dated in the future, and what is stated until then would end with it; confirm it again when "
    "that time has passed, at most a few minutes from now"
)

router = APIRouter(tags=["tags"])

ItemId = Annotated[str, Path(max_length=1024, description="The `id` of an item of `GET /protections/pending`.")]


@router.get(PATH, responses={200: {"model": PendingItems}})
async def pending(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns what still conducts protective tags only because its end was not confirmed, with who ended it and when.

    `kind` is `tag` (a source no longer states it), `parent` (the asset was moved; `from` is the parent), `edge`
    (deleted, blocked or masked), `claim` (the job no longer claims the edge) or `deletion` (where deletion cuts).

    `keeps` has assets that would lose one of the `tags` if it were confirmed, at most 100; `count` is the number of all
    of them, a lower bound if `more`. A page can be shorter than `limit`. Items about assets that a policy denies to the
    caller are left out."""
    call.require("policy:read", "this call", PATH)
    size = checked_limit(call, limit)
    question = (call.tenant, PATH)
    after = None if cursor is None else cursors.unseal(cursor, POSITION, *question)
    page = await pending_page(call, after, size)
    return Json({"items": page.items, "next_cursor": cursors.seal(page.next, *question) if page.next else None})


@router.post(
    f"{PATH}/confirm",
    status_code=202,
    responses={200: {"model": DecidedItems}, 202: {"model": DecidedItems}},
    openapi_extra=body_model(PendingIdsBody, CONFIRM),
)
async def confirm_many(call: Anyone) -> Json:
    """Confirms the end of many items. The outcome of each is `confirmed`, `denied` (a policy denies an asset of it to
    the caller), `not_found` (it is not, or no longer, pending), `needs_others` (an earlier parent of the same asset
    would end with this one, so its item has to be among the ids too) or `too_early` (what would end is dated in the
    future: confirm it after that)."""
    call.require("policy:write", "deciding about what is pending", PATH)
    body = await read_body(call.request, PendingIdsBody, call.services.settings.limits.body_bytes)
    decided = await decide(call, body.ids, "confirm")
    items = [DecidedItem(id=one, outcome=outcome).model_dump() for one, outcome in decided.outcomes.items()]
    settled = decided.settlement
    return Json({"items": items}, settled.status if settled else 200, settled.headers() if settled else {})


@router.post(
    f"{PATH}/{{id}}/confirm", status_code=202, responses={200: {"model": DecidedOne}, 202: {"model": DecidedOne}}
)
async def confirm(id: ItemId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Confirms that something has ended: it no longer conducts. Needs `policy:write`."""
    return await _decide(call, id, "confirm")


@router.post(f"{PATH}/{{id}}/undo", status_code=202, responses={200: {"model": DecidedOne}, 202: {"model": DecidedOne}})
async def undo(id: ItemId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Undoes the end of something: it is stated again in the user layer, so that a source or a job cannot end it.
    Needs `policy:write`."""
    return await _decide(call, id, "undo")


async def _decide(call: Call, given: str, decision: Decision) -> Json:
    decided = await decide(call, [given], decision)
    outcome = decided.outcomes[given]
    if outcome == "denied":
        raise forbidden("a policy denies an asset of this item to you", given)
    if outcome == "needs_others":
        raise Declined(409, Problem("NEEDS_OTHERS", NEEDS_OTHERS, given[:64]))
    if outcome == "too_early":
        raise Declined(409, Problem("TOO_EARLY", TOO_EARLY, given[:64]))
    if decided.settlement is None:
        raise not_found(given[:64], "pending item")
    settled = decided.settlement
    return Json({"status": "success", "id": given, "outcome": outcome}, settled.status, settled.headers())
