"""`POST /usage` and `GET /metadata/{id}/usage`: how often assets are queried."""

from datetime import UTC, datetime

from fastapi import APIRouter

from lily.api.calls import Reads, Writes
from lily.api.http.bodies import read_body
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.parameters import AssetId
from lily.api.http.openapi.quality import USAGE, Days, Usage, UsageBody
from lily.api.http.openapi.responses import Bulk, Json
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.usage_events import usage_intake, usage_record
from lily.api.reads.references import find
from lily.model.schemas import USAGE_BODY
from lily.store.postgres.usage.counts import usage_of

router = APIRouter(tags=["quality"])


@router.post(
    "/usage",
    status_code=202,
    responses={200: {"model": Bulk}, 202: {"model": Bulk}},
    openapi_extra=body_schema(USAGE_BODY, USAGE),
)
async def report_usage(call: Writes) -> Json:
    """Reports how many queries used assets, and when. Each event is accepted or refused by itself.

    An event counts for the UTC day of its `timestamp`, however late it comes. Of the events of an asset with the same
    `event_id` the first one counts, so a request whose outcome is unknown can be sent again."""
    limits = call.services.settings.limits
    append = LogAppend(call)
    body = await read_body(call.request, UsageBody, limits.body_bytes)
    intake = await usage_intake(call, body.events)
    await append.add(map(usage_record, intake.events.values()))
    call.services.metrics.refused.inc(intake.rejected)
    settlement = await append.settle()
    tally = {
        "accepted": len(intake.events),
        "rejected": intake.rejected,
        "errors": intake.errors(limits.bulk_errors),
    }
    return Json(tally, settlement.status, settlement.headers())


@router.get("/metadata/{id:text}/usage", responses={200: {"model": Usage}})
async def usage(id: AssetId, call: Reads, days: Days = 30) -> Json:  # noqa: A002 - the contract's name
    """Returns how many queries used an asset on each of the last days."""
    asset = await find(call, id)
    found = await usage_of(call.services.database, call.tenant, asset.id, datetime.now(UTC).date(), days)
    items = [{"day": day, "query_count": queries} for day, queries in found]
    return Json({"metadata_id": asset.id, "items": items, "next_cursor": None})
