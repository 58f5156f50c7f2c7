"""`POST /ingest-metadata/bulk`: many statements in one streamed body."""

import asyncio

from fastapi import APIRouter

from lily.api.answers import Bulk, Json
from lily.api.bodies import JSON, refuse_longer, require_media_type
from lily.api.bulk.array import Array
from lily.api.bulk.intake import BulkIntake
from lily.api.bulk.rows import Lines, Splitter
from lily.api.calls import Writes
from lily.api.documents import bulk_schema
from lily.api.errors import problems_answer, too_large
from lily.api.prefer import wait_of
from lily.api.receipts import Receipt
from lily.api.writes import receipt_headers
from lily.bus.producer import LogUnavailable
from lily.model.errors import Problem

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
    limits = call.parts.settings.limits
    wait = wait_of(call.request.headers, limits.wait_seconds)
    kind = require_media_type(call.request, (*NDJSON, JSON))
    refuse_longer(call.request, limits.bulk_bytes)
    intake = BulkIntake(call)
    await _stream(call, intake, Array(limits.body_bytes) if kind == JSON else Lines(limits.body_bytes))
    await intake.finish()
    return await _answer(call, intake, wait)


async def _stream(call: Writes, intake: BulkIntake, splitter: Splitter) -> None:
    length, limit = 0, call.parts.settings.limits.bulk_bytes
    async for chunk in call.request.stream():
        length += len(chunk)
        if length > limit:
            return await intake.take(Problem("TOO_LARGE", f"the body must not exceed {limit} bytes", "body"))
        for piece in splitter.feed(chunk):
            await intake.take(piece)
        await asyncio.sleep(0)  # a body that arrives faster than it is read would let no other request through
    for piece in splitter.finish():
        await intake.take(piece)
    return None


async def _answer(call: Writes, intake: BulkIntake, wait: int | None) -> Json:
    if intake.accepted == 0:
        _refuse_unread(call, intake)
    ...
