"""`/tags`: the tenant's tag definitions: whether and how each tag propagates."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from lily.api.calls import Anyone, Call
from lily.api.http.bodies import read_body
from lily.api.http.creating import creates
from lily.api.http.errors import Declined
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.parameters import DefinedTag
from lily.api.http.openapi.requests import DefineBody, RedefineBody
from lily.api.http.openapi.responses import Definition, Errors, Json, Undefined
from lily.api.http.openapi.responses import Definitions as DefinitionsResponse
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.routes.governance.definitions import Definitions, stated_changes, stated_edge_types, stated_name
from lily.lineage.definitions import TagDefinition
from lily.model.assets import PROTECTIVE, tag_key
from lily.model.errors import Problem
from lily.store.postgres.definitions.tags import create_tag_definition, read_tag_rules

router = APIRouter(tags=["tags"])

_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": Errors, "description": "The tag is defined already, or is PII or GDPR"}
}


async def _read(call: Call) -> Mapping[str, TagDefinition]:
    return (await read_tag_rules(call.services.database, call.tenant)).definitions


_TAGS = Definitions("tag", "/tags", _read)


@router.get("/tags", responses={200: {"model": DefinitionsResponse}})
async def definitions(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the tag definitions, by name. A tag without a definition can be used and does not propagate."""
    return Json(await _TAGS.page(call, limit, cursor))


@creates(router, "/tags", Definition, body_model(DefineBody, examples.DEFINE_TAG), _CONFLICT)
async def define_tag(call: Anyone) -> Json:
    """Defines a tag: whether it propagates, in which direction, how far, and along which edges."""
    call.require("policy:write", "defining a tag", "/tags")
    tag = _definition(await read_body(call.request, DefineBody, call.services.settings.limits.body_bytes))
    if not await create_tag_definition(call.services.database, call.principal, tag, call.correlation):
        description = f"the tag {tag.name} is defined already; change it with PUT /tags/{tag.name}"
        raise Declined(409, Problem("EXISTS", description, "name"))
    await _TAGS.changed(call)
    return Json(tag.as_dict(), 201)


@router.get("/tags/{name:text}", responses={200: {"model": Definition}})
async def definition(name: DefinedTag, call: Anyone) -> Json:
    """Returns the definition of one tag."""
    return Json(await _TAGS.one(call, name))


@router.put(
    "/tags/{name:text}",
    responses={200: {"model": Definition}, **_CONFLICT},
    openapi_extra=body_model(RedefineBody, examples.REDEFINE_TAG),
)
async def redefine_tag(name: DefinedTag, call: Anyone) -> Json:
    """Changes the named fields of a tag definition and recomputes what depends on it. PII and GDPR always propagate."""
    call.require("policy:write", "changing a tag definition", "/tags")
    changes = await stated_changes(call, RedefineBody)
    tag = await _TAGS.find(call, name)
    if changes.get("propagates") is False:
        _refuse_legal(tag, "always propagates")
    return Json(await _TAGS.update(call, tag, changes))


@router.delete("/tags/{name:text}", responses={200: {"model": Undefined}, **_CONFLICT})
async def undefine_tag(name: DefinedTag, call: Anyone) -> Json:
    """Deletes a tag definition. The tag stays on the assets that state it, and no longer propagates. PII and GDPR
    cannot be deleted."""
    call.require("policy:write", "deleting a tag definition", "/tags")
    tag = await _TAGS.find(call, name)
    _refuse_legal(tag, "cannot be deleted")
    return Json(await _TAGS.delete(call, tag))


def _refuse_legal(tag: TagDefinition, rule: str) -> None:
    if tag.key in PROTECTIVE:
        raise Declined(409, Problem("PROTECTED", f"{tag.name} is protected by law: it {rule}", tag.name))


def _definition(body: DefineBody) -> TagDefinition:
    name, types = stated_name(body.name), stated_edge_types(body.edge_types)
    return TagDefinition(
        tag_key(name), name, body.propagates, body.direction, body.max_depth, types, body.stopped_by_masking
    )
