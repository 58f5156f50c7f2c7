"""`/enforcement-targets/{name}/script` and `/confirm`: for targets whose changes a person makes."""

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from lily.api.calls import Anyone, HttpCall
from lily.api.enforcement.plans import PLAN_SECONDS, made_plan
from lily.api.http.bodies import read_body
from lily.api.http.errors import Declined, not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.responses import Json
from lily.api.http.openapi.scripts import CONFIRM_EXAMPLES, NO_SCRIPT, ConfirmedScript, RunScript
from lily.api.http.openapi.targets import TargetName
from lily.api.reads.references import normal
from lily.model.errors import Problem
from lily.policy import fold
from lily.store.postgres.enforcement import targets

PATH = "/enforcement-targets"
TEXT = "text/plain"
Remove = Annotated[bool, Query(description="The script that takes back what earlier ones did.")]

router = APIRouter(tags=["enforcement"])


@router.get(
    f"{PATH}/{{name:segment}}/script",
    response_class=Response,
    responses={200: {"content": {TEXT: {"schema": {"type": "string"}}}}, **NO_SCRIPT},
)
async def script(name: TargetName, call: Anyone, remove: Remove = False) -> Response:
    """Returns the complete script of a target that Lily does not connect to, such as a warehouse.

    Every statement can be repeated. A comment at the beginning has the script's digest: state it when you have run the
    script (`POST /enforcement-targets/{name}/confirm`), since Lily cannot see that itself."""
    call.require("policy:write", "making a script", PATH)
    key, request = fold(normal(name)), str(uuid.uuid4())
    kind = "remove" if remove else "apply"
    if await targets.request(call.services.database, call.tenant, key, request, kind) is None:
        raise not_found(name, "target")
    await _made(call, name, key, request)
    text = await targets.script(call.services.database, call.tenant, key, request)
    if text is None:
        raise _late(name)  # another request has replaced it
    return Response(text, media_type=TEXT)


@router.post(
    f"{PATH}/{{name:segment}}/confirm",
    responses={200: {"model": ConfirmedScript}, **NO_SCRIPT},
    openapi_extra=body_model(RunScript, CONFIRM_EXAMPLES),
)
async def confirm(name: TargetName, call: Anyone) -> Json:
    """Records that a script was run completely, and confirms the receipts of its tables. Lily believes it, and audits
    who said so. 409 if the decisions have changed since the script was made."""
    call.require("policy:write", "confirming a script", PATH)
    body = await read_body(call.request, RunScript, call.services.settings.limits.body_bytes)
    key, request = fold(normal(name)), str(uuid.uuid4())
    run = targets.RunScript(key, body.digest, request)
    queued = await targets.confirm(call.services.database, call.principal, run, call.correlation)
    if not queued:
        raise not_found(name, "target")
    await _made(call, name, key, request)
    return Json({"target": name, "digest": body.digest, "status": "confirmed"})


async def _made(call: HttpCall, name: str, key: str, request: str) -> dict[str, Any]:
    """Raises Declined: with 409 if the script cannot be made or is another one, with 503 if it takes too long."""
    made = await made_plan(call, key, request)
    if made is None:
        raise _late(name)
    if made["error"]:
        raise Declined(409, Problem("NO_SCRIPT", made["error"], name))
    return made


def _late(name: str) -> Declined:
    described = f"no worker has made the script of {name} within {PLAN_SECONDS} s; check that one runs, and try again"
    return Declined(503, Problem("UNAVAILABLE", described, name), {"Retry-After": "5"})
