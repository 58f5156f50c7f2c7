"""`POST /ingest-metadata/bulk`: many statements in one streamed body, in any format that is installed."""

import asyncio
from contextlib import closing
from itertools import islice

from fastapi import APIRouter

from lily.api.calls import HttpCall, Writes
from lily.api.http.bodies import require_media_type
from lily.api.http.encodings import decoded, is_gzip, refuse_longer
from lily.api.http.openapi.responses import Bulk, Json
from lily.api.ingest.bulk.intake import BulkIntake
from lily.api.ingest.log_append import LogAppend
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
    """Takes many assets in one body, in the format that `Content-Type` names. Each row stands for itself."""
    limits = call.services.settings.limits
    append = LogAppend(call, wait_for_room=True)
    formats = installed().formats
    media_type = require_media_type(call.request, formats.media_types)
    is_gzip(call.request)  # an unknown encoding is refused before anything is read
    refuse_longer(call.request, limits.bulk_bytes)
    intake = BulkIntake(call, append)
    with closing(formats.of_media_type(media_type).splitter(limits.body_bytes)) as splitter:
        await _stream(call, intake, splitter)
    await intake.finish()
    _refuse_if_nothing_was_read(intake)
    settlement = await append.settle()
    tally = {"accepted": intake.accepted, "rejected": intake.rejected, "errors": intake.errors}
    return Json(tally, settlement.status, settlement.headers())


async def _stream(call: HttpCall, intake: BulkIntake, splitter: Splitter) -> None:
    """Rows that were read before the body turned out to be too long or broken are taken; the rest is one problem."""
    try:
        async for chunk in decoded(call.request, call.services.settings.limits.bulk_bytes):
            for row in splitter.feed(chunk):
                await intake.take(row)
            await intake.flush()
            await asyncio.sleep(0)  # a body that arrives faster than it is read would let no other request through
    except Refused as error:
        for problem in error.problems:
            description = f"{problem.description}; the rows from here on were not read"
            await intake.take(Problem(problem.code, description, problem.entity))
        return
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
