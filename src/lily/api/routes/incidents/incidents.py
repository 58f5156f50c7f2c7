"""`/incidents`: issues of data, and what people state about them."""

from typing import Any

from fastapi import APIRouter

from lily.api.auth.authorisation import denied_references, raise_first
from lily.api.calls import Anyone, HttpCall
from lily.api.http import cursors
from lily.api.http.bodies import read_optional_body
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.incidents import (
    NOTE_EXAMPLES,
    NOTE_SCHEMA,
    IncidentDetail,
    IncidentId,
    IncidentList,
    InState,
    Note,
    OfAsset,
    OfSource,
    WithSeverity,
    Words,
)
from lily.api.http.openapi.parameters import AssetId
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.incidents import transitions
from lily.api.incidents.visible import visible_incident, visible_page
from lily.api.reads.references import find, normal, resolve
from lily.incidents import State
from lily.store.postgres.incidents.reader import Wanted

PATH = "/incidents"
NOTE = body_schema(NOTE_SCHEMA, NOTE_EXAMPLES)
NOTE["requestBody"]["required"] = False
STATED: dict[int | str, dict[str, Any]] = {200: {"model": IncidentDetail}, 202: {"model": IncidentDetail}}

router = APIRouter(tags=["incidents"])


@router.get(PATH, responses={200: {"model": IncidentList}})
async def list_incidents(
    *,
    call: Anyone,
    state: InState = None,
    severity: WithSeverity = None,
    source: OfSource = None,
    asset: OfAsset = None,
    q: Words = None,
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> Json:
    """Returns incidents, the newest first. Assets that a policy denies to the caller are left out, and so are incidents
    that concern no other assets."""
    call.require("incidents:read", "reading incidents", PATH)
    if asset is not None:  # which incidents it has would say something of an asset that is denied
        raise_first(await denied_references(call, "READ", {normal(asset)}))
    wanted = Wanted(state, severity, source, None if asset is None else resolve(call.tenant, asset), q)
    return await _page(call, wanted, limit, cursor)


@router.get("/metadata/{id:text}/incidents", responses={200: {"model": IncidentList}})
async def incidents_of_asset(
    id: AssetId,  # noqa: A002
    call: Anyone,
    state: InState = None,
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> Json:
    """Returns the incidents that concern an asset itself, the newest first."""
    call.require("incidents:read", "reading incidents", PATH)
    asset = await find(call, id)
    return await _page(call, Wanted(state, asset=asset.id), limit, cursor)


@router.get(f"{PATH}/{{id:segment}}", responses={200: {"model": IncidentDetail}})
async def incident(incident_id: IncidentId, call: Anyone) -> Json:
    """Returns one incident: its assets, its links, and everything that was stated about it."""
    call.require("incidents:read", "reading incidents", PATH)
    return Json(await visible_incident(call, incident_id))


@router.post(f"{PATH}/{{id:segment}}/acknowledge", responses=STATED, openapi_extra=NOTE)
async def acknowledge(incident_id: IncidentId, call: Anyone) -> Json:
    """States that somebody takes care of an incident. An incident that is resolved stays resolved. 202 means that the
    statement is durably in the log, and was not merged within a few seconds."""
    return await _state(call, incident_id, "acknowledged")


@router.post(f"{PATH}/{{id:segment}}/resolve", responses=STATED, openapi_extra=NOTE)
async def resolve_incident(incident_id: IncidentId, call: Anyone) -> Json:
    """States that an incident is over. It stays so: if the issue comes back, its source reports a new incident."""
    return await _state(call, incident_id, "resolved")


async def _state(call: HttpCall, incident_id: str, new: State) -> Json:
    call.require("incidents:write", "changing incidents", PATH)
    body = await read_optional_body(call.request, Note, call.services.settings.limits.body_bytes)
    found, merged = await transitions.state(call, incident_id, new, body.note)
    return Json(found, 200 if merged else 202)


async def _page(call: HttpCall, wanted: Wanted, limit: int, cursor: str | None) -> Json:
    question = (call.tenant, "incidents", *(part or "" for part in wanted))
    after = cursors.unseal_place(cursor, *question)
    items, more = await visible_page(call, wanted, after, checked_limit(call, limit))
    return Json({"items": items, "next_cursor": None if more is None else cursors.seal(list(more), *question)})
