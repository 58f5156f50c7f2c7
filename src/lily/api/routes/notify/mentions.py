"""`/mentions`: what owners and teams are called where messages go."""

from typing import Any

from fastapi import APIRouter

from lily.api.calls import HttpCall, ManagesNotifications
from lily.api.http.bodies import read_body
from lily.api.http.creating import creates
from lily.api.http.errors import Declined, existing, not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.notifications import MENTION_EXAMPLES, MentionResponse, Mentions, OwnerName, Removed
from lily.api.http.openapi.policy_responses import EXISTS
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.notifications.lists import administering, find, listed
from lily.api.reads.references import normal
from lily.model.errors import Problem, Refused
from lily.notify.matching import fold
from lily.notify.mentions import Mention

PATH = "/mentions"

router = APIRouter(tags=["notifications"])


@creates(router, PATH, MentionResponse, body_model(Mention, MENTION_EXAMPLES), EXISTS)
async def create_mention(call: ManagesNotifications) -> Json:
    """States what an owner or team is called where messages go, by the name or the type of a channel: for mentions in
    texts, and for the destination `@owners`."""
    body = await read_body(call.request, Mention, call.services.settings.limits.body_bytes)
    if not await administering(call).create_mention(body):
        described = f"the mention {body.name[:64]} exists already; change it with PUT {PATH}/{body.name[:64]}"
        raise Declined(409, Problem("EXISTS", described, "name"))
    return Json(await _found(call, body.name), 201)


@router.get(PATH, responses={200: {"model": Mentions}})
async def list_mentions(call: ManagesNotifications, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the mentions, by name."""
    return await listed(call, "mentions", limit, cursor)


@router.get(f"{PATH}/{{name:text}}", responses={200: {"model": MentionResponse}})
async def mention(name: OwnerName, call: ManagesNotifications) -> Json:
    """Returns one mention."""
    return Json(await _found(call, name))


@router.put(
    f"{PATH}/{{name:text}}",
    responses={200: {"model": MentionResponse}},
    openapi_extra=body_model(Mention, MENTION_EXAMPLES),
)
async def replace_mention(name: OwnerName, call: ManagesNotifications) -> Json:
    """Replaces the handles of an owner or team."""
    body = await read_body(call.request, Mention, call.services.settings.limits.body_bytes)
    if fold(body.name) != fold(normal(name)):
        described = f"name {body.name[:64]!r} differs from {name[:64]!r} in the path; a mention cannot be renamed"
        raise Refused(Problem("INVALID_VALUE", described, "name"))
    changed = await administering(call).replace_mention(fold(body.name), body)
    return Json(existing(changed, name, "mention"))


@router.delete(f"{PATH}/{{name:text}}", responses={200: {"model": Removed}})
async def delete_mention(name: OwnerName, call: ManagesNotifications) -> Json:
    """Deletes a mention."""
    if not await administering(call).delete_mention(fold(normal(name))):
        raise not_found(name, "mention")
    return Json({"status": "success", "name": name})


async def _found(call: HttpCall, name: str) -> dict[str, Any]:
    return existing(await find(call, "mentions", fold(normal(name))), name, "mention")
