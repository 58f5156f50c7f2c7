"""`POST /ingest-metadata/bulk`: many statements in one streamed body."""

import asyncio

from fastapi import APIRouter

from lily.api.calls import HttpCall, Writes
from lily.api.http.bodies import JSON, require_media_type
from lily.api.http.encodings import decoded, is_gzip, refuse_longer
from lily.api.http.openapi import bulk_schema
from lily.api.http.responses import Bulk, Json
from lily.api.ingest.bulk.intake import BulkIntake
from lily.api.ingest.bulk.json_array import Array
from lily.api.ingest.bulk.rows import Lines, Splitter
from lily.api.ingest.log_append import LogAppend
from lily.bus.producer import LogUnavailable
from lily.model.errors import Problem, Refused

NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")

router = APIRouter(tags=["ingest"])


@router.post(
    "/ingest-metadata/bulk",
    status_code=202,
    responses={200: {"model": Bulk}, 202: {"model": Bulk}},
    openapi_extra=bulk_schema(NDJSON),
)
async def ingest_bulk(call: Writes) -> Json:
    """Takes many assets, as newline-delimited JSON or as a JSON array. Each row stands for itself."""
    limits = call.services.settings.limits
    append = LogAppend(call, wait_for_room=True)
    kind = require_media_type(call.request, (*NDJSON, JSON))
    is_gzip(call.request)  # an unknown encoding is refused before anything is read
    refuse_longer(call.request, limits.bulk_bytes)
    intake = BulkIntake(call, append)
    await _stream(call, intake, Array(limits.body_bytes) if kind == JSON else Lines(limits.body_bytes))
    await intake.finish()
    _refuse_if_nothing_was_read(intake)
    settlement = await append.settle()
    tally = {"accepted": intake.accepted, "rejected": intake.rejected, "errors": intake.errors}
    return Json(tally, settlement.status, settlement.headers())


async def _stream(call: HttpCall, intake: BulkIntake, splitter: Splitter) -> None:
    """Rows that were read before the body turned out to be too long or broken are taken; the rest is one problem."""
    try:
        async for chunk in decoded(call.request, call.services.settings.limits.bulk_bytes):
            for piece in splitter.feed(chunk):
                await intake.take(piece)
            await intake.flush()
            await asyncio.sleep(0)  # a body that arrives faster than it is read would let no other request through
    except Refused as error:
        for problem in error.problems:
            description = f"{problem.description}; the rows from here on were not read"
            await intake.take(Problem(problem.code, description, problem.entity))
        return
    for piece in splitter.finish():
        await intake.take(piece)


def _refuse_if_nothing_was_read(intake: BulkIntake) -> None:
    if intake.accepted:
        return
    if intake.log_failed:
        raise LogUnavailable("The log did not confirm a single row in time. Send them again: repeating is harmless.")
    if intake.rejected and not intake.readable:
        raise Refused(*(Problem(error["code"], error["description"], error["entity"]) for error in intake.errors[:20]))
