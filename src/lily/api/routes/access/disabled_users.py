"""`/users/{name}/disable`: keeps a user out, whatever tokens the user has, or lets the user in again."""

import unicodedata
from typing import Annotated

from fastapi import APIRouter

from lily.api.calls import Anyone, HttpCall
from lily.api.http.errors import Declined
from lily.api.http.openapi.parameters import USER_PATH
from lily.api.http.openapi.policy_responses import OWN_USER, DisabledUser, UserChange
from lily.api.http.openapi.responses import Json
from lily.api.reads.references import normal
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_NAME
from lily.store.postgres.access.users import Change, change_user, disabled_since, is_user_name

router = APIRouter(tags=["policies"])

UserName = Annotated[str, USER_PATH]


@router.get("/users/{name:text}/disable", responses={200: {"model": DisabledUser}})
async def disabled_user(name: UserName, call: Anyone) -> Json:
    """Returns whether a user is disabled, and since when."""
    call.require("policy:read", "this call", name)
    since = await disabled_since(call.services.database, call.tenant, _checked(name))
    return Json({"name": name, "disabled": since is not None, "since": clock.stamp(since) if since else None})


@router.post("/users/{name:text}/disable", responses={200: {"model": UserChange}, **OWN_USER})
async def disable_user(name: UserName, call: Anyone) -> Json:
    """Keeps a user out: API tokens of the user, sign-ins with an identity provider and open WebSockets, within a second
    in every process of the API. Decisions deny the user all data. The user needs no entry under `/users`. It needs the
    scope `admin`, because unlike a policy it also ends the access of administrators; nobody can disable themselves."""
    call.require("admin", "disabling a user", name)
    if call.principal.user and _folded(call.principal.user) == _folded(_checked(name)):
        description = f"{name} is the user of this token; let another administrator disable it"
        raise Declined(409, Problem("OWN_USER", description, name))
    return await _changed(call, "user.disabled", name)


@router.delete("/users/{name:text}/disable", responses={200: {"model": UserChange}})
async def enable_user(name: UserName, call: Anyone) -> Json:
    """Lets a disabled user in again. Tokens that are still valid work at once. It needs the scope `admin`."""
    call.require("admin", "enabling a user", name)
    return await _changed(call, "user.enabled", name)


async def _changed(call: HttpCall, change: Change, name: str) -> Json:
    changed = await change_user(call.services.database, call.principal, change, _checked(name))
    # At once in this process; the others are notified.
    call.services.principals.invalidate()
    call.services.policies.changed(call.tenant)
    return Json({"status": "success", "name": name, "disabled": change == "user.disabled", "changed": changed})


def _checked(given: str) -> str:
    name = normal(given)
    if not is_user_name(name):
        description = f"{name[:64]!r} is not a valid user name; use up to {MAX_NAME} bytes without control characters"
        raise Refused(Problem("INVALID_VALUE", description, "name"))
    return name


def _folded(name: str) -> str:
    """As `folded_user` in PostgreSQL compares names."""
    return unicodedata.normalize("NFKC", name).casefold()
