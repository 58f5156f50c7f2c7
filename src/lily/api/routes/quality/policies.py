"""`/quality-policies`: which assets are watched for what."""

import uuid
from functools import partial
from typing import Any

from fastapi import APIRouter

from lily.api.calls import Anyone, HttpCall
from lily.api.http.bodies import read_json
from lily.api.http.creating import creates
from lily.api.http.errors import Declined, existing, limit_reached, not_found
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.policy_responses import EXISTS
from lily.api.http.openapi.quality import (
    CHANGED_POLICY,
    POLICY_BODY,
    QUALITY_POLICIES,
    DeletedPolicy,
    QualityPolicies,
    QualityPolicyId,
    QualityPolicyResponse,
    StoredQualityPolicy,
)
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, keyed_page
from lily.api.policy.administration import checked_name
from lily.api.reads.references import normal
from lily.api.reads.unknown_assets import unknown_asset
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_TAG
from lily.policy import fold
from lily.quality.parsing import parse_quality_policy
from lily.quality.policies import QualityPolicy
from lily.store.postgres.quality import policies

PATH = "/quality-policies"

router = APIRouter(tags=["quality"])


@router.get(PATH, responses={200: {"model": QualityPolicies}})
async def quality_policies(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the quality policies, by id, each with the number of its open findings."""
    call.require("policy:read", "this call", PATH)
    read = partial(policies.page, call.services.database, call.tenant)
    return Json(await keyed_page(call, PATH, limit, cursor, read))


@creates(router, PATH, StoredQualityPolicy, body_schema(POLICY_BODY, QUALITY_POLICIES), EXISTS)
async def create_quality_policy(call: Anyone) -> Json:
    """Creates a quality policy: which asset, or `*` with filters, is watched for what. Its assets are judged at once,
    and from then on whenever their usage, their state or the day changes. What it finds becomes an incident with the
    source `quality`, which is resolved when the cause is gone. An asset that nothing has ingested yet is accepted, with
    a warning in `warnings`."""
    call.require("policy:write", "creating a quality policy", PATH)
    body = await _body(call)
    given = body.pop("id", None)
    identity = str(uuid.uuid4()) if given is None else checked_name(given, "id", MAX_TAG)
    policy = parse_quality_policy(body, tenant=call.tenant, policy_id=identity)
    if not await _change(call, "create", identity, policy):
        if await _find(call, identity) is None:
            most = call.services.settings.limits.quality_policies
            raise limit_reached("quality_policies", most, f"{PATH}/{{id}}")
        described = f"the quality policy {identity} exists already; change it with PUT {PATH}/{identity}"
        raise Declined(409, Problem("EXISTS", described, "id"))
    return Json(await _stored(call, policy), 201)


@router.get(f"{PATH}/{{id:segment}}", responses={200: {"model": QualityPolicyResponse}})
async def quality_policy(id: QualityPolicyId, call: Anyone) -> Json:  # noqa: A002 - the name in the address
    """Returns one quality policy."""
    call.require("policy:read", "this call", PATH)
    return Json(await _found(call, id))


@router.put(
    f"{PATH}/{{id:segment}}",
    responses={200: {"model": StoredQualityPolicy}},
    openapi_extra=body_schema(POLICY_BODY, CHANGED_POLICY),
)
async def replace_quality_policy(id: QualityPolicyId, call: Anyone) -> Json:  # noqa: A002
    """Replaces a quality policy. Its assets are judged again: findings that it no longer has are resolved."""
    call.require("policy:write", "changing a quality policy", PATH)
    body = await _body(call)
    if fold(normal(str(body.pop("id", id)))) != fold(normal(id)):
        described = (
            f"the id in the body differs from {normal(id)[:64]!r} in the path; the id of a policy cannot be changed"
        )
        raise Refused(Problem("INVALID_VALUE", described, "id"))
    known = await _found(call, id)
    policy = parse_quality_policy(body, tenant=call.tenant, policy_id=known["id"])
    if not await _change(call, "replace", known["id"], policy):
        raise not_found(id, "quality policy")
    return Json(await _stored(call, policy))


@router.delete(f"{PATH}/{{id:segment}}", responses={200: {"model": DeletedPolicy}})
async def delete_quality_policy(id: QualityPolicyId, call: Anyone) -> Json:  # noqa: A002
    """Deletes a quality policy. Its findings are resolved."""
    call.require("policy:write", "deleting a quality policy", PATH)
    known = await _found(call, id)
    if not await _change(call, "delete", known["id"], None):
        raise not_found(id, "quality policy")
    return Json({"status": "success", "id": known["id"]})


async def _body(call: HttpCall) -> dict[str, Any]:
    body = await read_json(call.request, call.services.settings.limits.body_bytes)
    if not isinstance(body, dict):
        raise Refused(Problem("INVALID_TYPE", "the body must be a JSON object", "body"))
    return body


async def _change(call: HttpCall, how: policies.Change, identity: str, policy: QualityPolicy | None) -> bool:
    database, most = call.services.database, call.services.settings.limits.quality_policies
    return await policies.change(
        database, call.principal, how, fold(identity), policy, correlation=call.correlation, most=most
    )


async def _stored(call: HttpCall, policy: QualityPolicy) -> dict[str, Any]:
    """As it is stored now, with what the caller may have overlooked."""
    found = await _found(call, policy.id)
    if policy.asset_id is None:
        return found
    remedy = f"correct it with PUT {PATH}/{policy.id}"
    warnings = await unknown_asset(call, policy.asset_id, policy.asset, remedy)
    return found | ({"warnings": [one.as_dict() for one in warnings]} if warnings else {})


async def _found(call: HttpCall, reference: str) -> dict[str, Any]:
    return existing(await _find(call, reference), reference, "quality policy")


async def _find(call: HttpCall, reference: str) -> dict[str, Any] | None:
    return await policies.find(call.services.database, call.tenant, fold(normal(reference)))
