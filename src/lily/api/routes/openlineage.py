"""`POST /api/v1/lineage`: what OpenLineage's clients send, one event or an array of them."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from fastapi import APIRouter

from lily.api.calls import Call, WritesLineage
from lily.api.http import examples
from lily.api.http.bodies import JSON, parse_json, read_bytes, require_media_type
from lily.api.http.errors import Declined, too_large
from lily.api.http.openapi import body_schema
from lily.api.http.responses import Bulk, Json, LineageTaken
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.records import Record, bulk_asset_record, lineage_record
from lily.intake.openlineage import Conversion, Naming, Sender, convert
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.observe import traces

MOST_EVENTS = 1_000  # of one array
LARGEST_ARRAY = 16 << 20  # bytes; it is held while it is converted

EVENT = {
    "type": "object",
    "required": ["eventTime"],
    "properties": {
        "eventTime": {"type": "string"},
        "eventType": {"type": ["string", "null"]},
        "producer": {"type": "string"},
        "schemaURL": {"type": "string"},
        **{name: {"type": "object"} for name in ("run", "job", "dataset")},
        **{name: {"type": ["array", "null"], "items": {"type": "object"}} for name in ("inputs", "outputs")},
    },
}
BODY = {"oneOf": [EVENT, {"type": "array", "maxItems": MOST_EVENTS, "items": EVENT}]}

router = APIRouter(tags=["lineage"])


@router.post(
    "/api/v1/lineage",
    status_code=202,
    responses={200: {"model": LineageTaken | Bulk}, 202: {"model": LineageTaken | Bulk}},
    openapi_extra=body_schema(BODY, examples.OPENLINEAGE),
)
async def take(call: WritesLineage) -> Json:
    """Takes OpenLineage's events of runs, jobs and datasets. 202 means that all of it is durably in the log."""
    append = LogAppend(call)
    require_media_type(call.request, (JSON,))
    raw = await read_bytes(call.request, LARGEST_ARRAY)
    try:
        body = parse_json(raw)
        if isinstance(body, list):
            return await _take_many(append, body)
        if len(raw) > call.services.settings.limits.body_bytes:
            raise too_large(call.services.settings.limits.body_bytes)
        return await _take_one(append, body)
    except Refused:
        call.services.metrics.refused.inc()
        raise


async def _take_one(append: LogAppend, body: Any) -> Json:
    found = _converter(append.call)(body)
    await append.add(_records(found))
    settlement = await append.settle()
    taken = {"status": "success", "assets": len(found.assets), "edges": _edges(found)}
    return Json(taken, settlement.status, settlement.headers())


async def _take_many(append: LogAppend, events: list[Any]) -> Json:
    """Each event stands for itself."""
    if len(events) > MOST_EVENTS:
        raise Declined(413, Problem("TOO_LARGE", f"send at most {MOST_EVENTS} events at a time", "body"))
    call, rejected = append.call, 0
    convert_one = _converter(call)
    errors: list[dict[str, Any]] = []
    for row, event in enumerate(events, 1):
        try:
            await append.add(_records(convert_one(event)))
        except Refused as error:
            rejected += 1
            errors += [{"row": row, **problem.as_dict()} for problem in error.problems]
        await asyncio.sleep(0)  # an array takes up to a second, and other requests go on meanwhile
    settlement = await append.settle()
    call.services.metrics.refused.inc(rejected)
    told = errors[: call.services.settings.limits.bulk_errors]
    return Json(
        {"accepted": len(events) - rejected, "rejected": rejected, "errors": told},
        settlement.status,
        settlement.headers(),
    )


def _records(found: Conversion) -> list[Record]:
    assets = [bulk_asset_record(asset) for asset in found.assets]
    return assets if found.claims is None else [*assets, lineage_record(found.claims)]


def _converter(call: Call) -> Callable[[Any], Conversion]:
    """With what all events of one call share."""
    may_declassify = call.principal.may("policy:write")
    return partial(
        convert,
        sender=Sender(
            call.tenant, call.principal.name, may_declassify, correlation=call.correlation, trace=traces.traceparent()
        ),
        naming=Naming(call.services.settings.openlineage.namespaces),
        received=clock.now(),
        skew=timedelta(seconds=call.services.settings.limits.future_skew_seconds),
    )


def _edges(found: Conversion) -> int:
    return 0 if found.claims is None else len(found.claims.claims)
