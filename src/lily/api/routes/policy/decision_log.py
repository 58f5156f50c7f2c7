"""`GET /policy/decisions`: the log of decisions."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import TypeAdapter

from lily.api.calls import Anyone
from lily.api.http import cursors
from lily.api.http.openapi.policy_responses import LoggedDecisions
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.model.values import MAX_NAME
from lily.policy import Effect
from lily.store.postgres.policies.decision_log import read_decisions

router = APIRouter(tags=["policies"])

ID: TypeAdapter[UUID] = TypeAdapter(UUID)
Of = Annotated[str | None, Query(max_length=MAX_NAME, description="Only decisions about this principal.")]
WithEffect = Annotated[Effect | None, Query(description="Only decisions with this effect.")]


@router.get("/policy/decisions", responses={200: {"model": LoggedDecisions}})
async def decisions(
    call: Anyone, principal: Of = None, effect: WithEffect = None, limit: Limit = DEFAULT, cursor: Cursor = None
) -> Json:
    """Returns logged decisions, newest first, of `POST /policy/check` and of Lily's own API. The tenant's setting
    `decision_log` chooses which are logged, and the operator's settings how long they are kept."""
    call.require("policy:read", "reading the log of decisions", "/policy/decisions")
    question = (call.tenant, "policy-decisions", principal or "", effect or "")
    below = None if cursor is None else str(cursors.unseal(cursor, ID, *question))
    size = checked_limit(call, limit)
    found = await read_decisions(
        call.services.database, call.tenant, below=below, principal=principal, effect=effect, limit=size + 1
    )
    more = cursors.seal(found[size - 1]["id"], *question) if len(found) > size else None
    return Json({"items": found[:size], "next_cursor": more})
