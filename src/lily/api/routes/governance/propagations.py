"""`GET /propagations/{id}`: the state of a write."""

from typing import Annotated

from fastapi import APIRouter, Path

from lily.api.auth.authorisation import denied_references, raise_first
from lily.api.calls import Anyone, Call
from lily.api.http.errors import not_found
from lily.api.http.openapi.responses import Json
from lily.api.http.openapi.responses import Receipt as ReceiptResponse
from lily.api.receipts.outcome import finished, is_superseded, outcome_for
from lily.api.receipts.receipt import Receipt, unseal
from lily.model import clock
from lily.store.postgres.enforcement.receipts import confirmations
from lily.store.postgres.progress.propagated import propagation_of_event, propagation_of_write, published_positions
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.reactions.parking import is_parked

router = APIRouter(tags=["metadata"])

ReceiptId = Annotated[str, Path(description="The value of the header `Lily-Receipt` in the response to a write.")]


@router.get("/propagations/{id}", responses={200: {"model": ReceiptResponse}})
async def propagation(id: ReceiptId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Returns the receipt of a write: its state, and how many assets gained or lost a tag by it.

    A write is `pending` until it can be read and its tags have propagated. Then it is `applied`, `superseded` if a
    newer event had already won, or `refused` if the pipeline refused it. `enforcements` has, for each target, when it
    had confirmed everything up to this write."""
    if not call.principal.may("metadata:write"):  # a writer may read its own receipts
        call.require("metadata:read", "this call", "/propagations")
    try:
        receipt = unseal(id, call.tenant)
    except ValueError as error:
        raise not_found(id[:64], "receipt") from error
    await _authorise(call, receipt)
    receipt_body: dict[str, object] = {
        "id": id,
        "state": "pending",
        "metadata_id": receipt.stated.asset_id if receipt.stated else None,
        "reached": 0,
        "depth": 0,
        "started": receipt.started,
        "finished": None,
        "errors": [],
        "enforcements": [],
    }
    if await call.services.waiter.is_applied(receipt.positions) and await _has_propagated(call, receipt):
        receipt_body |= await _settled(call, receipt)
        if isinstance(settled_at := receipt_body["finished"], str):
            receipt_body["enforcements"] = await confirmations(call.services.database, call.tenant, settled_at)
    return Json(receipt_body)


async def _authorise(call: Call, receipt: Receipt) -> None:
    """A receipt of one asset needs READ or WRITE of it; one of many names no asset."""
    about = [receipt.stated.asset_id] if receipt.stated else []
    if denied := await denied_references(call, "READ", about):
        if call.principal.may("metadata:write") and not await denied_references(call, "WRITE", about):
            return
        raise_first(denied)


async def _has_propagated(call: Call, receipt: Receipt) -> bool:
    if not receipt.propagates:
        return True
    database = call.services.database
    published = await published_positions(database, receipt.positions)
    if published is None or not await call.services.waiter.is_applied(published):
        return False
    return not await is_parked(database, call.tenant, PROPAGATION)


async def _settled(call: Call, receipt: Receipt) -> dict[str, object]:
    if receipt.stated is None:
        propagated = await propagation_of_write(call.services.database, call.tenant, receipt.correlation)
        began, ended = (clock.stamp(at) if at else None for at in (propagated.started, propagated.at))
        result = {"reached": propagated.reached, "depth": propagated.depth, "started": began, "finished": ended}
        return {"state": "applied", **result}
    outcome = await outcome_for(call, receipt)
    if outcome.errors is not None:
        return {"state": "refused", "errors": outcome.errors, "finished": finished(outcome)}
    state = "superseded" if is_superseded(receipt, outcome) else "applied"
    stated = receipt.stated
    propagated = await propagation_of_event(
        call.services.database, call.tenant, stated.asset_id, stated.layer, stated.event_id
    )
    ended = clock.stamp(propagated.at) if propagated.at else finished(outcome)
    return {"state": state, "reached": propagated.reached, "depth": propagated.depth, "finished": ended}
