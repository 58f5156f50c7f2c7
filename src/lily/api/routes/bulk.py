"""`POST /ingest-metadata/bulk`: many statements in one streamed body, in any format that is installed."""

import asyncio
from itertools import islice

from fastapi import APIRouter

from lily.api.calls import Call, HttpCall, Writes
from lily.api.http.bodies import refuse_longer, require_media_type
from lily.api.http.responses import Bulk, Json
from lily.api.ingest.bulk.intake import BulkIntake
from lily.api.ingest.writes import receipt_headers, settled
from lily.api.receipts.receipt import Receipt
from lily.bus.producer import LogUnavailable
from lily.model.errors import Problem, Refused
from lily.plugins import Splitter, installed

AT_ONCE = 500  # rows of a body's end that are split before they are taken

router = APIRouter(tags=["ingest"])


@router.post(
    "/ingest-metadata/bulk",
    status_code=202,
    responses={200: {"model": Bulk}, 202: {"model": Bulk}},
)
async def ingest_bulk(call: Writes) -> Json:
    """Takes many assets in one body, in a format that the Content-Type names. Each row stands for itself."""
    limits = call.services.settings.limits
    wait = call.wait()
    splitter = _splitter(call)
    intake = BulkIntake(call)
    try:
        refuse_longer(call.request, limits.bulk_bytes)
        await _stream(call, intake, splitter)
    finally:
        splitter.close()
    await intake.finish()
    _refuse_if_nothing_was_read(intake)
    return await _answer(call, intake, wait)


def _splitter(call: HttpCall) -> Splitter:
    """Raises Declined with 415 and what is installed."""
    formats = installed().formats
    media_type = require_media_type(call.request, formats.media_types)
    return formats.of_media_type(media_type).splitter(call.services.settings.limits.body_bytes)


async def _stream(call: HttpCall, intake: BulkIntake, splitter: Splitter) -> None:
    length, limit = 0, call.services.settings.limits.bulk_bytes
    async for chunk in call.request.stream():
        length += len(chunk)
        if length > limit:
            await intake.take(Problem("TOO_LARGE", f"the body must not exceed {limit} bytes; the rest is lost", "body"))
            return
        for row in splitter.feed(chunk):
            await intake.take(row)
        await asyncio.sleep(0)  # a body that arrives faster than it is read would let no other request through
    # What a format can only read as a whole, a workbook for example, is read in a thread: other requests go on.
    left = iter(splitter.finish())
    while rows := await asyncio.to_thread(lambda: list(islice(left, AT_ONCE))):
        for row in rows:
            await intake.take(row)


def _refuse_if_nothing_was_read(intake: BulkIntake) -> None:
    if intake.accepted:
        return
    if intake.log_failed:
        raise LogUnavailable("The log did not confirm a single row in time. Send them again: repeating is harmless.")
    if intake.rejected and not intake.readable:
        raise Refused(*(Problem(error["code"], error["description"], error["entity"]) for error in intake.errors[:20]))


async def _answer(call: Call, intake: BulkIntake, wait: int | None) -> Json:
    receipt = Receipt(tuple(intake.newest.values()), travels=True, correlation=call.correlation)
    applied = await settled(call, receipt, wait)
    tally = {"accepted": intake.accepted, "rejected": intake.rejected, "errors": intake.errors}
    return Json(tally, 200 if applied else 202, receipt_headers(call, receipt, wait, applied=applied))
