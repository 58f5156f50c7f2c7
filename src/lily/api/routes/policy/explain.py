"""`POST /policy/explain`: why a decision is what it is."""

from typing import Any

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.bodies import read_json
from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.policy_bodies import EXPLAIN
from lily.api.http.openapi.policy_responses import ExplanationResponse
from lily.api.http.openapi.responses import Json
from lily.api.policy.explanations import explain

router = APIRouter(tags=["policies"])

EXPLAINED: dict[int | str, dict[str, Any]] = {200: {"model": ExplanationResponse}}


@router.post("/policy/explain", responses=EXPLAINED, openapi_extra=body_schema(EXPLAIN, examples.EXPLAIN))
async def explained(call: Anyone) -> Json:
    """Decides one check and returns the chain behind it: every policy that names the principal and the asset, by which
    user, group or role, by which tag, and the path along which the asset got the tag. With `as_of`, everything is as it
    was at that time."""
    call.require("policy:read", "explaining a decision", "/policy/explain")
    body = await read_json(call.request, call.services.settings.limits.body_bytes)
    return Json(await explain(call, body))
