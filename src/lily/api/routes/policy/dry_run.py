"""`POST /policy/dry-run`: who gains and who loses access by a change."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, Field

from lily.api.calls import Anyone
from lily.api.http.bodies import read_body
from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.policy_bodies import DRY_RUN
from lily.api.http.openapi.policy_responses import PolicyDryRun
from lily.api.http.openapi.responses import Json
from lily.api.policy.dry_run import Proposal, dry_run, refuse_empty
from lily.api.policy.retagging import TagChange
from lily.model import clock
from lily.model.values import MAX_ITEMS, MAX_NAME, MAX_QUALIFIED_NAME, MAX_TAG
from lily.policy import Action, Plane, fold

router = APIRouter(tags=["policies"])

Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=MAX_NAME)]], Field(max_length=MAX_ITEMS)]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=MAX_TAG)]], Field(max_length=MAX_ITEMS)]
Reference = Annotated[str, Field(min_length=1, max_length=MAX_QUALIFIED_NAME)]
Objects = Annotated[list[dict[str, Any]], Field(max_length=MAX_ITEMS)]


def _moment(given: Any) -> datetime | None:
    """Raises ValueError for anything but a time with a zone."""
    if given is None:
        return None
    return clock.parse(clock.normalise_time(given if isinstance(given, str) else "")).astimezone(UTC)


class TagsBody(BaseModel, extra="forbid"):
    asset: Reference
    add: Tags = []
    remove: Tags = []


class Body(BaseModel, extra="forbid"):
    policies: Objects = []
    roles: Objects = []
    tags: Annotated[list[TagsBody], Field(max_length=MAX_ITEMS)] = []
    delete_policies: Names = []
    delete_roles: Names = []
    users: Names = []
    assets: Annotated[list[Reference], Field(max_length=MAX_ITEMS)] = []
    actions: Annotated[list[Action], Field(min_length=1)] = ["READ"]
    plane: Plane = "data"
    time: Annotated[datetime | None, BeforeValidator(_moment)] = None


@router.post(
    "/policy/dry-run",
    responses={200: {"model": PolicyDryRun}},
    openapi_extra=body_schema(DRY_RUN, examples.DRY_RUN),
)
async def compare(call: Anyone) -> Json:
    """Compares decisions before and after a change of policies, roles or tags, and changes nothing.

    A tag that is added or removed is followed to where it propagates and where it is inherited. Without `users` this
    compares the tenant's users, without `assets` those that the changed policies name and those that gain or lose a
    tag; `cut` reports what was left out of the comparison. Conditions compare `time` (now, if absent)."""
    call.require("policy:read", "a dry run", "/policy/dry-run")
    body = await read_body(call.request, Body, call.services.settings.limits.body_bytes)
    tags = [TagChange(one.asset, frozenset(map(fold, one.add)), frozenset(map(fold, one.remove))) for one in body.tags]
    proposal = Proposal(
        body.policies,
        body.roles,
        tags,
        body.delete_policies,
        body.delete_roles,
        body.users,
        body.assets,
        list(dict.fromkeys(body.actions)),
        body.plane,
        body.time,
    )
    refuse_empty(proposal)
    return Json(await dry_run(call, proposal))
