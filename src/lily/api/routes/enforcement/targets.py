"""`/enforcement-targets`: databases and warehouses that Lily brings in line with its decisions."""

import uuid
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query

from lily.api.calls import Anyone, HttpCall
from lily.api.enforcement.plans import made_plan
from lily.api.http.bodies import read_body
from lily.api.http.creating import creates
from lily.api.http.errors import Declined, not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.policy_responses import EXISTS, FORBIDDEN_ADDRESS
from lily.api.http.openapi.responses import Json
from lily.api.http.openapi.targets import (
    TARGET_EXAMPLES,
    NewTarget,
    PlanResponse,
    RemovedTarget,
    Requested,
    Target,
    TargetName,
    Targets,
)
from lily.api.http.paging import DEFAULT, Cursor, Limit, keyed_page
from lily.api.plugin_configuration import encrypted, made_plugin
from lily.api.policy.administration import checked_name
from lily.api.reads.references import normal
from lily.enforce.surroundings import surroundings_of
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_NAME
from lily.plugins import ENFORCERS
from lily.policy import fold
from lily.store.postgres.enforcement import targets

PATH = "/enforcement-targets"

Forget = Annotated[bool, Query(description="Revert nothing: what Lily applied there stays.")]

router = APIRouter(tags=["enforcement"])


@creates(router, PATH, Target, body_model(NewTarget, TARGET_EXAMPLES), EXISTS, FORBIDDEN_ADDRESS)
async def add_target(call: Anyone) -> Json:
    """Adds a target; from then on it is kept in line with the decisions. Needs the scope `admin`.

    `type` is the name of a plug-in (`lily plugins`), `config` its configuration. Its names are those of the catalogue,
    or what the engine mappings of `data_source` (default: the target's name) make of them. `roles` states what roles of
    the target are in Lily; without an entry, a role that can log in is the user of its name, and every role a group and
    a role of its name."""
    call.require("admin", "adding a target", PATH)
    body = await read_body(call.request, NewTarget, call.services.settings.limits.body_bytes)
    name = checked_name(body.name, "name", MAX_NAME)
    place = surroundings_of(call.services.settings, call.tenant, fold(name), datetime.now(UTC))
    (await made_plugin(ENFORCERS, body.type, body.config, place, "target")).close()
    wrapped_key, sealed = encrypted(call, targets.group_of(fold(name)), body.config)
    source = body.data_source or name
    roles = _stated(body)
    target = targets.NewTarget(fold(name), name, body.type, source, roles, wrapped_key, sealed)
    if not await targets.add(call.services.database, call.principal, target, call.correlation):
        described = f"the target {name} exists already; remove it, and add it again when it is gone"
        raise Declined(409, Problem("EXISTS", described, "name"))
    return Json(await _found(call, name), 201)


@router.get(PATH, responses={200: {"model": Targets}})
async def list_targets(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the targets and how each of them is, by name. The configuration is never shown."""
    call.require("policy:read", "this call", PATH)
    read = partial(targets.page, call.services.database, call.tenant)
    return Json(await keyed_page(call, PATH, limit, cursor, read))


@router.get(f"{PATH}/{{name:segment}}", responses={200: {"model": Target}})
async def target(name: TargetName, call: Anyone) -> Json:
    """Returns one target: whether it is in line, its last run, what was changed by hand, what failed and why."""
    call.require("policy:read", "this call", PATH)
    return Json(await _found(call, name))


@router.delete(f"{PATH}/{{name:segment}}", status_code=202, responses={202: {"model": Target | RemovedTarget}})
async def remove_target(name: TargetName, call: Anyone, forget: Forget = False) -> Json:
    """Removes a target. Lily reverts everything that it applied there, and then forgets the target; until that is done
    its state is `removing`. The response has the state `removed` if it is done already. With `forget` nothing is
    reverted, for a target that is gone or was never reached. Needs the scope `admin`."""
    call.require("admin", "removing a target", PATH)
    key = fold(normal(name))
    if not await targets.remove(call.services.database, call.principal, key, call.correlation, forget=forget):
        raise not_found(name, "target")
    # A worker may have removed it already.
    return Json(await targets.find(call.services.database, call.tenant, key) or {"name": name, "state": "removed"}, 202)


@router.post(f"{PATH}/{{name:segment}}/apply", status_code=202, responses={202: {"model": Requested}})
async def apply(name: TargetName, call: Anyone) -> Json:
    """Queues a run of the target: it is compared with the decisions and brought in line, without waiting for a change
    or for the next refresh."""
    call.require("policy:write", "bringing a target in line", PATH)
    await call.record("enforcement-target.apply-requested", (await _found(call, name))["name"], {})
    at = await targets.request(call.services.database, call.tenant, fold(normal(name)))
    if at is None:
        raise not_found(name, "target")
    return Json({"status": "requested", "target": name, "requested_at": at}, 202)


@router.post(f"{PATH}/{{name:segment}}/plan", responses={200: {"model": PlanResponse}, 202: {"model": Target}})
async def plan(name: TargetName, call: Anyone) -> Json:
    """Returns what a run would change in the target, and changes nothing. A worker makes the plan; if it takes longer
    than a minute, the response is 202 and the plan is part of the target later."""
    call.require("policy:write", "planning for a target", PATH)
    key, request = fold(normal(name)), str(uuid.uuid4())
    if await targets.request(call.services.database, call.tenant, key, request) is None:
        raise not_found(name, "target")
    made = await made_plan(call, key, request)
    return Json(await _found(call, name), 202) if made is None else Json(made)


async def _found(call: HttpCall, name: str) -> dict[str, Any]:
    found = await targets.find(call.services.database, call.tenant, fold(normal(name)))
    if found is None:
        raise not_found(name, "target")
    return found


def _stated(body: NewTarget) -> dict[str, dict[str, str]]:
    for role, stated in body.roles.items():
        if len(stated) != 1:
            described = f"the role {role!r} must be one of a user, a group or a role of Lily"
            raise Refused(Problem("INVALID_VALUE", described, f"roles.{role}"))
    return {role: {kind: name for kind, name in stated.items()} for role, stated in body.roles.items()}  # noqa: C416 - literals to strings
