"""`POST /api/v1/lineage`: OpenLineage events, one or an array of them."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from fastapi import APIRouter

from lily.api.auth.authorisation import authorise_edges, authorise_events
from lily.api.auth.restrictions import restrictions_of
from lily.api.calls import Call, HttpCall, WritesLineage
from lily.api.http.bodies import JSON, read_bytes, require_media_type
from lily.api.http.errors import Declined, too_large
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.responses import Json, LineageTaken, LineageTakenMany
from lily.api.ingest.lineage_rights import limited
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.records import Record, bulk_asset_record, columns_records, incident_record, lineage_record
from lily.incidents import IncidentEvent
from lily.lineage.claims import edge_keys
from lily.model import clock
from lily.model.columns import ColumnsEvent, events_of
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.observe import traces
from lily.plugins import INTAKES, Delivery, Event, Intake, Sender, installed

MAX_EVENTS = 1_000  # of one array
MAX_ARRAY_BYTES = 16 << 20  # held in memory while it is converted

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
MANY = {"type": "array", "maxItems": MAX_EVENTS, "items": EVENT}
BODY = {"oneOf": [EVENT, MANY]}

router = APIRouter(tags=["lineage"])


@router.post(
    "/api/v1/lineage",
    status_code=202,
    responses={200: {"model": LineageTaken | LineageTakenMany}, 202: {"model": LineageTaken | LineageTakenMany}},
    openapi_extra=body_schema(BODY, examples.OPENLINEAGE),
)
async def take(call: WritesLineage) -> Json:
    """Ingests OpenLineage events of runs, jobs and datasets. 202 means that all of them are durably in the log.
    What is wrong within a facet spoils that facet alone, and is listed in `warnings`. Assertions about the quality of
    data that failed become incidents; a later run in which they hold resolves them."""
    return await _take(call, one=True)


@router.post(
    "/api/v1/lineage/batch",
    status_code=202,
    responses={200: {"model": LineageTakenMany}, 202: {"model": LineageTakenMany}},
    openapi_extra=body_schema(MANY, examples.OPENLINEAGE_BATCH),
)
async def take_batch(call: WritesLineage) -> Json:
    """Ingests an array of OpenLineage events, each of which is accepted or refused on its own."""
    return await _take(call, one=False)


async def _take(call: HttpCall, *, one: bool) -> Json:
    append = LogAppend(call)
    require_media_type(call.request, (JSON,))
    raw = await read_bytes(call.request, MAX_ARRAY_BYTES)
    limits = call.services.settings.limits
    delivery = Delivery(raw, call.request.headers, clock.now(), timedelta(seconds=limits.future_skew_seconds))
    intake, sender = _intake(call), _sender(call)
    try:
        items = intake.decode(delivery)
        if _is_array(raw):
            return await _take_many(append, items, lambda item: _separate(intake.events(item, delivery, sender)))
        _check_single(raw, one=one, most=limits.body_bytes)
        return await _take_one(append, *_separate(intake.events(items[0], delivery, sender)))
    except Refused:
        call.services.metrics.refused.inc()
        raise


def _check_single(raw: bytes, *, one: bool, most: int) -> None:
    """Raises Refused or Declined if a body that is not an array cannot be taken."""
    if not one:
        raise Refused(Problem("INVALID_TYPE", "the body must be an array of OpenLineage events", "body"))
    if len(raw) > most:
        raise too_large(most)


def _separate(found: Sequence[Event | Problem]) -> tuple[list[Event], list[Problem]]:
    """The events of an item, and what is wrong with the parts of it that were ignored."""
    warnings = [entry for entry in found if isinstance(entry, Problem)]
    return [entry for entry in found if not isinstance(entry, Problem)], warnings


async def _take_one(append: LogAppend, events: Sequence[Event], warnings: Sequence[Problem]) -> Json:
    events = await _permitted(append.call, events)
    await _append(append, events)
    settlement = await append.settle()
    assets = sum(_assets(event) for event in events)
    edges = _edges(events)
    taken = {"status": "success", "assets": assets, "edges": edges}
    reported = [problem.as_dict() for problem in warnings[: append.call.services.settings.limits.bulk_errors]]
    return Json(taken | ({"warnings": reported} if reported else {}), settlement.status, settlement.headers())


async def _take_many(
    append: LogAppend, items: Sequence[Any], events_of: Callable[[Any], tuple[list[Event], list[Problem]]]
) -> Json:
    """An event that is refused does not affect the others."""
    if len(items) > MAX_EVENTS:
        raise Declined(413, Problem("TOO_LARGE", f"send at most {MAX_EVENTS} events at a time", "body"))
    rejected, edges, most_edges = 0, 0, append.call.services.settings.limits.request_edges
    errors: list[dict[str, Any]] = []
    warnings: list[dict[str, Any]] = []
    for row, item in enumerate(items, 1):
        try:
            _require_few_edges(edges, most_edges)
            events, ignored = events_of(item)
            edges += _edges(events)
            await _append(append, await _permitted(append.call, events))
            warnings += [{"row": row, **problem.as_dict()} for problem in ignored]
        except Refused as error:
            rejected += 1
            errors += [{"row": row, **problem.as_dict()} for problem in error.problems]
        await asyncio.sleep(0)  # an array takes up to a second; lets other requests run in between
    settlement = await append.settle()
    services = append.call.services
    services.metrics.refused.inc(rejected)
    most = services.settings.limits.bulk_errors
    taken = {"accepted": len(items) - rejected, "rejected": rejected, "errors": errors[:most]}
    reported = {"warnings": warnings[:most]} if warnings else {}
    return Json(taken | reported, settlement.status, settlement.headers())


async def _append(append: LogAppend, events: Sequence[Event]) -> None:
    """Raises LogFull or LogUnavailable; then sending the event again is harmless. A record that claims a thousand edges
    counts as a thousand events of the tenant's quota."""
    said = [incident_record(event) for event in events if isinstance(event, IncidentEvent)]
    if said:
        await append.call.services.log.append(said)
    append.call.services.quotas.written(append.call.tenant, len(said) + _edges(events), 0)
    await append.add([record for event in events for record in _records(event)])


async def _permitted(call: Call, events: Sequence[Event]) -> Sequence[Event]:
    """Raises Declined with 403 if a policy denies one of the assets or edges. A query is analyzed later, and what a
    schema deletes is known later: if policies restrict the caller, the event carries who that is, and then states and
    deletes what they permit."""
    await _authorise(call, events)
    if await restrictions_of(call.services, call.principal, "READ", "WRITE", "DELETE") is None:
        return events
    return [limited(event, call.principal) if isinstance(event, ClaimsEvent) else event for event in events]


async def _authorise(call: Call, events: Sequence[Event]) -> None:
    """Raises Declined with 403 if a policy denies one of the assets or edges of an OpenLineage event."""
    if await restrictions_of(call.services, call.principal, "WRITE", "DELETE") is None:
        return
    stating = (event for event in events if isinstance(event, AssetEvent | ColumnsEvent))
    await authorise_events(call, [event for stated in stating for event in events_of(stated)])
    claimed = [key for event in events if isinstance(event, ClaimsEvent) for key in edge_keys(event)]
    stated = [event.statement.key for event in events if isinstance(event, EdgeEvent)]
    await authorise_edges(call, claimed + stated)


def _intake(call: Call) -> Intake:
    return installed().make(INTAKES, "openlineage", {"namespaces": call.services.settings.openlineage.namespaces})


def _sender(call: Call) -> Sender:
    may_declassify = call.principal.may("policy:write")
    envelope = (call.correlation, traces.traceparent())
    describes, reads = call.principal.may("metadata:write"), call.principal.may("metadata:read")
    return Sender(call.tenant, call.principal.name, may_declassify, *envelope, describes=describes, reads=reads)


def _records(event: Event) -> list[Record]:
    """The records of the log that state assets or edges. Incidents are appended before."""
    if isinstance(event, AssetEvent):
        return [bulk_asset_record(event)]
    if isinstance(event, ColumnsEvent):
        return columns_records(event)
    return [lineage_record(event)] if isinstance(event, EdgeEvent | ClaimsEvent) else []


def _edges(events: Sequence[Event]) -> int:
    return sum(len(edge_keys(event)) for event in events if isinstance(event, ClaimsEvent))


def _require_few_edges(before: int, most: int) -> None:
    if before > most:
        described = f"the events before this one claim more than {most} edges; send this one in another request"
        raise Refused(Problem("TOO_MANY_EDGES", described, "body"))


def _assets(event: Event) -> int:
    return len(event.columns) if isinstance(event, ColumnsEvent) else int(isinstance(event, AssetEvent))


def _is_array(raw: bytes) -> bool:
    return raw.lstrip()[:1] == b"["
