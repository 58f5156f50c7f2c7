"""`/webhook-mappings`: how the messages of a source become incidents, stated as data."""

import asyncio
from typing import Any

from fastapi import APIRouter

from lily.api.calls import Anyone, HttpCall
from lily.api.http.bodies import read_body, read_bytes, require_media_type
from lily.api.http.creating import creates
from lily.api.http.errors import Declined, not_found
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.mappings import (
    MAPPING_EXAMPLES,
    MAPPING_EXISTS,
    MAPPING_SCHEMA,
    SAMPLE_EXAMPLES,
    DeletedMapping,
    MappingList,
    MappingName,
    MappingResponse,
    TestedMapping,
)
from lily.api.http.openapi.responses import Json
from lily.api.webhooks.samples import tested
from lily.intake.mapped import Mapping, is_mapping_name, shipped
from lily.intake.sources import by_mapping, is_taken
from lily.model.errors import Problem, Refused
from lily.store.postgres.webhook_mappings.mappings import MAX_MAPPINGS, change_mapping, find_mapping, mappings_of

PATH = "/webhook-mappings"
ONE = f"{PATH}/{{name:segment}}"
BODY = body_schema(MAPPING_SCHEMA, MAPPING_EXAMPLES)

router = APIRouter(tags=["incidents"])


@router.get(PATH, responses={200: {"model": MappingList}})
async def list_mappings(call: Anyone) -> Json:
    """Returns the tenant's mappings and those that Lily ships, by name. Needs the scope `admin`."""
    call.require("admin", "listing the mappings of webhooks", PATH)
    own = {one.body["name"]: _shown(one.body) for one in await mappings_of(call.services.database, call.tenant)}
    found = {name: _shown(one.mapping.as_dict(), is_shipped=True) for name, one in shipped().items()} | own
    return Json({"items": [found[name] for name in sorted(found)], "next_cursor": None})


@creates(router, PATH, MappingResponse, BODY, MAPPING_EXISTS)
async def create_mapping(call: Anyone) -> Json:
    """States how the messages of a source become incidents. The source then sends to `POST /webhook/NAME`, and signs
    with the secret of `PUT /webhook-secrets/NAME`. Paths lead into the message (`$`) or into one of its items (`@`): a
    part of JSONPath without filters. A mapping of a name that Lily ships replaces that one. Needs the scope `admin`."""
    call.require("admin", "creating a mapping of webhooks", PATH)
    mapping = await _read(call)
    body = mapping.as_dict()
    if not await change_mapping(call.services.database, call.principal, "create", mapping.name, body):
        described = (
            f"the mapping {mapping.name} exists already, or there are {MAX_MAPPINGS} others; use PUT {PATH}/NAME"
        )
        raise Declined(409, Problem("EXISTS", described, "name"))
    call.services.webhooks.secrets.invalidate(call.tenant)  # at once in this process; the others are notified
    return Json(_shown(body), 201)


@router.get(ONE, responses={200: {"model": MappingResponse}})
async def mapping(name: MappingName, call: Anyone) -> Json:
    """Returns one mapping. Needs the scope `admin`."""
    call.require("admin", "reading a mapping of webhooks", name)
    own = await _own(call, name)
    if own is None and name not in shipped():
        raise not_found(name, "mapping")
    return Json(_shown(shipped()[name].mapping.as_dict(), is_shipped=True) if own is None else _shown(own))


@router.put(ONE, responses={200: {"model": MappingResponse}}, openapi_extra=BODY)
async def replace_mapping(name: MappingName, call: Anyone) -> Json:
    """Replaces a mapping of the tenant. Messages that are in the log and not merged yet are read with the new one.
    Needs the scope `admin`."""
    call.require("admin", "replacing a mapping of webhooks", name)
    stated = await _read(call)
    if stated.name != name:
        described = f"name {stated.name!r} differs from {name[:64]!r} in the path; a mapping cannot be renamed"
        raise Refused(Problem("INVALID_VALUE", described, "name"))
    if not await change_mapping(call.services.database, call.principal, "replace", name, stated.as_dict()):
        raise not_found(name, "mapping")
    call.services.webhooks.secrets.invalidate(call.tenant)
    return Json(_shown(stated.as_dict()))


@router.delete(ONE, responses={200: {"model": DeletedMapping}})
async def delete_mapping(name: MappingName, call: Anyone) -> Json:
    """Deletes a mapping of the tenant: its webhooks are refused from now on, unless Lily ships one of that name.
    Incidents stay. Needs the scope `admin`."""
    call.require("admin", "deleting a mapping of webhooks", name)
    if not is_mapping_name(name) or not await change_mapping(call.services.database, call.principal, "delete", name):
        raise not_found(name, "mapping")
    call.services.webhooks.secrets.invalidate(call.tenant)
    return Json({"status": "success", "name": name})


@router.post(
    f"{ONE}/test",
    responses={200: {"model": TestedMapping}},
    openapi_extra=body_schema({"anyOf": [{"type": "object"}, {"type": "array"}]}, SAMPLE_EXAMPLES),
)
async def test_mapping(name: MappingName, call: Anyone) -> Json:
    """Returns what a message, which is the body, would become, and stores nothing. Needs the scope `admin`."""
    call.require("admin", "testing a mapping of webhooks", name)
    mapped = by_mapping(name, await _own(call, name))
    if mapped is None:
        raise not_found(name, "mapping")
    require_media_type(call.request, ("application/json",))
    body = await read_bytes(call.request, call.services.settings.limits.body_bytes)
    # In a thread: a large message would hold up other requests.
    return Json({"items": await asyncio.to_thread(tested, mapped, call.tenant, body)})


async def _read(call: HttpCall) -> Mapping:
    stated = await read_body(call.request, Mapping, call.services.settings.limits.body_bytes)
    if is_taken(stated.name):
        described = (
            f"{stated.name} is a source of Lily itself or an intake, which needs no mapping; choose another name"
        )
        raise Declined(409, Problem("EXISTS", described, "name"))
    return stated


async def _own(call: HttpCall, name: str) -> dict[str, Any] | None:
    return await find_mapping(call.services.database, call.tenant, name) if is_mapping_name(name) else None


def _shown(body: dict[str, Any], *, is_shipped: bool = False) -> dict[str, Any]:
    return {**body, "shipped": is_shipped}
