"""`/tags`: the tenant's tag definitions: whether and how each tag propagates."""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import StringConstraints, TypeAdapter

from lily.api.calls import Anyone, Call
from lily.api.http import cursors
from lily.api.http.bodies import read_body
from lily.api.http.errors import Declined, not_found
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.parameters import DefinedTag
from lily.api.http.openapi.requests import DefineBody, RedefineBody
from lily.api.http.openapi.responses import Definition, Definitions, Errors, Json, Undefined
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.ingest.edge_types import edge_types
from lily.api.reads.references import normal
from lily.api.receipts.settling import decision_settled
from lily.lineage.definitions import TagDefinition
from lily.model.assets import PROTECTIVE, tag_key
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_TAG, Checker
from lily.store.postgres.definitions.decisions import delete_definition, update_definition
from lily.store.postgres.definitions.tags import create_tag_definition, read_tag_rules

router = APIRouter(tags=["tags"])

KEY: TypeAdapter[str] = TypeAdapter(Annotated[str, StringConstraints(max_length=2 * MAX_TAG)])
_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": Errors, "description": "The tag is defined already, or is PII or GDPR"}
}


@router.get("/tags", responses={200: {"model": Definitions}})
async def definitions(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the tag definitions, by name. A tag without a definition can be used and does not propagate."""
    _require_reader(call)
    question = (call.tenant, "tags")
    beyond = "" if cursor is None else cursors.unseal(cursor, KEY, *question)
    size = checked_limit(call, limit)
    definitions = (await read_tag_rules(call.services.database, call.tenant)).definitions
    found = [definitions[key] for key in sorted(definitions) if key > beyond]
    more = cursors.seal(found[size - 1].key, *question) if len(found) > size else None
    return Json({"items": [_as_dict(tag) for tag in found[:size]], "next_cursor": more})


@router.post(
    "/tags",
    status_code=201,
    responses={201: {"model": Definition}, **_CONFLICT},
    openapi_extra=body_model(DefineBody, examples.DEFINE_TAG),
)
async def define_tag(call: Anyone) -> Json:
    """Defines a tag: whether it propagates, in which direction, how far, and along which edges."""
    call.require("policy:write", "defining a tag", "/tags")
    body = await read_body(call.request, DefineBody, call.services.settings.limits.body_bytes)
    tag = _definition(body)
    if not await create_tag_definition(call.services.database, call.principal, tag, call.correlation):
        description = f"the tag {tag.name} is defined already; change it with PUT /tags/{tag.name}"
        raise Declined(409, Problem("EXISTS", description, "name"))
    call.services.tag_rules.invalidate(call.tenant)
    await decision_settled(call)
    return Json(_as_dict(tag), 201)


@router.get("/tags/{name:text}", responses={200: {"model": Definition}})
async def definition(name: DefinedTag, call: Anyone) -> Json:
    """Returns the definition of one tag."""
    _require_reader(call)
    return Json(_as_dict(await _find(call, name)))


@router.put(
    "/tags/{name:text}",
    responses={200: {"model": Definition}, **_CONFLICT},
    openapi_extra=body_model(RedefineBody, examples.REDEFINE_TAG),
)
async def redefine_tag(name: DefinedTag, call: Anyone) -> Json:
    """Changes the named fields of a tag definition and recomputes what depends on it. PII and GDPR always propagate."""
    call.require("policy:write", "changing a tag definition", "/tags")
    body = await read_body(call.request, RedefineBody, call.services.settings.limits.body_bytes)
    changes = body.model_dump(exclude_unset=True)
    if not changes:
        raise Refused(Problem("MISSING_FIELD", "name at least one field to change", "body"))
    tag = await _find(call, name)
    if changes.get("propagates") is False:
        _refuse_legal(tag, "always propagates")
    if changes.get("edge_types") is not None:
        changes["edge_types"] = edge_types(changes["edge_types"])
    if not await update_definition(
        call.services.database, call.principal, "tag", tag.key, changes, correlation=call.correlation
    ):
        raise not_found(name, "tag")
    call.services.tag_rules.invalidate(call.tenant)
    await decision_settled(call)
    return Json(_as_dict(await _find(call, name)))


@router.delete("/tags/{name:text}", responses={200: {"model": Undefined}, **_CONFLICT})
async def undefine_tag(name: DefinedTag, call: Anyone) -> Json:
    """Deletes a tag definition. The tag stays on the assets that state it, and no longer propagates. PII and GDPR
    cannot be deleted."""
    call.require("policy:write", "deleting a tag definition", "/tags")
    tag = await _find(call, name)
    _refuse_legal(tag, "cannot be deleted")
    if not await delete_definition(
        call.services.database, call.principal, "tag", tag.key, correlation=call.correlation
    ):
        raise not_found(name, "tag")
    call.services.tag_rules.invalidate(call.tenant)
    await decision_settled(call)
    return Json({"status": "success", "name": tag.name})


def _require_reader(call: Call) -> None:
    if not call.principal.may("policy:read"):
        call.require("metadata:read", "this call", "/tags")


async def _find(call: Call, name: str) -> TagDefinition:
    found = (await read_tag_rules(call.services.database, call.tenant)).definitions.get(tag_key(normal(name)))
    if found is None:
        raise not_found(name, "tag")
    return found


def _refuse_legal(tag: TagDefinition, rule: str) -> None:
    if tag.key in PROTECTIVE:
        raise Declined(409, Problem("PROTECTED", f"{tag.name} is protected by law: it {rule}", tag.name))


def _definition(body: DefineBody) -> TagDefinition:
    checker = Checker()
    name = checker.name(body.name, "name", MAX_TAG) or ""
    if checker.problems:
        raise Refused(*checker.problems)
    types = None if body.edge_types is None else frozenset(edge_types(body.edge_types))
    return TagDefinition(
        tag_key(name), name, body.propagates, body.direction, body.max_depth, types, body.stopped_by_masking
    )


def _as_dict(tag: TagDefinition) -> dict[str, Any]:
    return {
        "name": tag.name,
        "propagates": tag.propagates,
        "direction": tag.direction,
        "max_depth": tag.max_depth,
        "edge_types": None if tag.edge_types is None else sorted(tag.edge_types),
        "stopped_by_masking": tag.stopped_by_masking,
    }
