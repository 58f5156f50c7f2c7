"""`/notifications/mutes`: for a while nothing is sent about an asset or a kind of event."""

import uuid
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path

from lily.api.calls import ManagesNotifications
from lily.api.http.bodies import read_body
from lily.api.http.creating import creates
from lily.api.http.errors import not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.notifications import MUTE_EXAMPLES, Deleted, Mute, MuteBody, Mutes
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.notifications.lists import administering, listed
from lily.api.reads.references import resolve
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.notify.kinds import is_pattern
from lily.store.postgres.subscriptions import administration

PATH = "/notifications/mutes"
MuteId = Annotated[uuid.UUID, Path(description="The mute's id.")]

router = APIRouter(tags=["notifications"])


@creates(router, PATH, Mute, body_model(MuteBody, MUTE_EXAMPLES))
async def create_mute(call: ManagesNotifications) -> Json:
    """Mutes an asset with everything below it, a kind of event (`tag.tagged`, `incident.*`), or a kind for an asset,
    for all subscriptions; until a time, or until it is deleted. What happens meanwhile is not sent later. The list of
    notifications has it with `muted: true`."""
    body = await read_body(call.request, MuteBody, call.services.settings.limits.body_bytes)
    if body.asset is None and body.kind is None:
        raise Refused(Problem("INVALID_VALUE", "state `asset`, `kind` or both", "asset"))
    if body.kind is not None and not is_pattern(body.kind):
        described = f"unknown kind `{body.kind[:64]}`; use one such as `tag.tagged` or `incident.*`"
        raise Refused(Problem("INVALID_VALUE", described, "kind"))
    if "\x00" in body.reason:
        raise Refused(Problem("INVALID_VALUE", "reason must not contain NUL", "reason"))
    asset = None if body.asset is None else resolve(call.tenant, body.asset)
    made = await administering(call).create_mute(
        str(uuid.uuid4()), asset=asset, kind=body.kind, until=_until(body.until), reason=body.reason
    )
    return Json(made, 201)


@router.get(PATH, responses={200: {"model": Mutes}})
async def list_mutes(call: ManagesNotifications, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the mutes that have not ended."""
    return await listed(call, "mutes", limit, cursor, administration.FIRST)


@router.delete(f"{PATH}/{{id}}", responses={200: {"model": Deleted}})
async def delete_mute(id: MuteId, call: ManagesNotifications) -> Json:  # noqa: A002 - the contract's name
    """Ends a mute."""
    if not await administering(call).delete_mute(str(id)):
        raise not_found(str(id), "mute")
    return Json({"status": "success", "id": str(id)})


def _until(given: str | None) -> datetime | None:
    if given is None:
        return None
    try:
        return clock.parse(clock.normalise_time(given))
    except ValueError as error:
        raise Refused(Problem("INVALID_TIME", f"until {given!r}: {error}", "until")) from error
