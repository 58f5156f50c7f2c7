"""Appends one statement about an asset to the log, and responds at once or when it can be read."""

from lily.api.auth.authorisation import authorise_events
from lily.api.calls import Call
from lily.api.http.openapi.responses import Json
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.records import asset_record
from lily.api.receipts.outcome import is_superseded, outcome_for
from lily.api.receipts.receipt import Stated
from lily.model.events import AssetEvent


async def write(call: Call, event: AssetEvent) -> Json:
    """Raises Declined with 403 if a policy denies the change, LogFull or LogUnavailable if the log does not confirm
    it."""
    append = LogAppend(call)
    await authorise_events(call, [event])
    await append.add([asset_record(event)])
    settlement = await append.settle(Stated.by(event))
    accepted, headers = {"status": "success", "metadata_id": event.asset_id}, settlement.headers()
    if not settlement.applied:
        return Json(accepted, 202, headers)
    outcome = await outcome_for(call, settlement.receipt)
    if outcome.errors is not None:
        return Json({"errors": outcome.errors}, 422, headers)
    return Json({**accepted, "superseded": is_superseded(settlement.receipt, outcome)}, 200, headers)
