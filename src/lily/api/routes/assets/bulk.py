"""`POST /ingest-metadata/bulk`: many statements in one streamed body, in any format that is installed."""

import asyncio
from contextlib import closing
from itertools import islice

from fastapi import APIRouter

from lily.api.auth.restrictions import restrictions_of
from lily.api.calls import HttpCall, Writes
from lily.api.http.bodies import require_media_type
from lily.api.http.encodings import decoded, is_gzip, refuse_longer
from lily.api.http.openapi.responses import Bulk, Json
from lily.api.ingest.bulk.intake import BulkIntake
from lily.api.ingest.log_append import LogAppend
from lily.bus.producer import LogUnavailable
from lily.model.errors import Problem, Refused
from lily.plugins import Splitter, installed

CHUNK = 500  # rows that are split in a thread before they are appended

router = APIRouter(tags=["ingest"])


@router.post(
    "/ingest-metadata/bulk",
    status_code=202,
    responses={200: {"model": Bulk}, 202: {"model": Bulk}},
)
async def ingest_bulk(call: Writes) -> Json:
    """Ingests many assets in one body, in the format that `Content-Type` names. Each row is accepted or refused
    by itself; a row that a policy denies is an error of that row."""
    limits = call.services.settings.limits
    append = LogAppend(call, wait_for_room=True)
    await restrictions_of(call.services, call.principal)  # 503 before a row is appended if they cannot be known
    formats = installed().formats
    media_type = require_media_type(call.request, formats.media_types)
    is_gzip(call.request)  # refuses an unknown encoding before anything is read
    refuse_longer(call.request, limits.bulk_bytes)
    intake = BulkIntake(call, append)
    with closing(formats.of_media_type(media_type).splitter(limits.body_bytes)) as splitter:
        await _stream(call, intake, splitter)
    await intake.finish()
    _raise_if_all_failed(intake)
    settlement = await append.settle()
    tally = {"accepted": intake.accepted, "rejected": intake.rejected, "errors": intake.errors}
    return Json(tally, settlement.status, settlement.headers())


async def _stream(call: HttpCall, intake: BulkIntake, splitter: Splitter) -> None:
    """If the body turns out to be too long or malformed, the rows before that are appended; the rest is one problem."""
    try:
        async for chunk in decoded(call.request, call.services.settings.limits.bulk_bytes):
            for row in splitter.feed(chunk):
                await intake.add(row)
            await intake.flush()
            await asyncio.sleep(0)  # a body that arrives faster than it is read would block all other requests
    except Refused as error:
        for problem in error.problems:
            description = f"{problem.description}; the rows from here on were not read"
            await intake.add(Problem(problem.code, description, problem.entity))
        return
    # Some formats, such as workbooks, can only be read as a whole: in a thread, so that other requests can run.
    remaining = iter(splitter.finish())
    while rows := await asyncio.to_thread(lambda: list(islice(remaining, CHUNK))):
        for row in rows:
            await intake.add(row)


def _raise_if_all_failed(intake: BulkIntake) -> None:
    if intake.accepted:
        return
    if intake.log_failed:
        raise LogUnavailable("The log did not confirm a single row in time. Send them again: repeating is harmless.")
    if intake.rejected and not intake.readable:
        raise Refused(*(Problem(error["code"], error["description"], error["entity"]) for error in intake.errors[:20]))
