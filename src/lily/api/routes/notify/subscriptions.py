"""`/subscriptions`: who wants to know what, over which channel."""

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.openapi.models import Example

from lily.api.calls import HttpCall, ManagesNotifications
from lily.api.http.bodies import read_body
from lily.api.http.creating import creates
from lily.api.http.errors import existing, limit_reached, not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.notifications import (
    LIMITED,
    SUBSCRIPTION_EXAMPLES,
    SUBSCRIPTION_ID,
    Deleted,
    SubscriptionResponse,
    Subscriptions,
)
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.notifications.lists import administering, find, listed
from lily.model.errors import Problem, Refused
from lily.notify.matching import fold
from lily.notify.subscriptions import Subscription
from lily.notify.templates import check_template
from lily.store.postgres.subscriptions import administration

PATH = "/subscriptions"
SubscriptionId = Annotated[
    uuid.UUID,
    Path(description="The subscription's id.", openapi_examples={"an id": Example(value=SUBSCRIPTION_ID)}),
]

router = APIRouter(tags=["notifications"])


@creates(router, PATH, SubscriptionResponse, body_model(Subscription, SUBSCRIPTION_EXAMPLES), LIMITED)
async def create_subscription(call: ManagesNotifications) -> Json:
    """Creates a subscription: events that match all `filters` are sent to `destination` over `channel`.

    Without `kinds` it is about incidents and what is at risk; changes of assets and tags have to be named
    (`asset.updated`, `tag.*`). `destination: "@owners"` sends to the owners, by their handles in `/mentions`. In
    `quiet_hours` messages are held; `group` sends what matches within some seconds as one message. Whatever the
    filters match is sent, also about assets that a policy hides from the caller."""
    identity = str(uuid.uuid4())
    await _put(call, identity, await _body(call))
    return Json(await _found(call, identity), 201)


@router.get(PATH, responses={200: {"model": Subscriptions}})
async def list_subscriptions(call: ManagesNotifications, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the subscriptions, by id."""
    return await listed(call, "subscriptions", limit, cursor, administration.FIRST)


@router.get(f"{PATH}/{{id}}", responses={200: {"model": SubscriptionResponse}})
async def subscription(id: SubscriptionId, call: ManagesNotifications) -> Json:  # noqa: A002 - the contract's name
    """Returns one subscription."""
    return Json(await _found(call, str(id)))


@router.put(
    f"{PATH}/{{id}}",
    responses={200: {"model": SubscriptionResponse}},
    openapi_extra=body_model(Subscription, SUBSCRIPTION_EXAMPLES),
)
async def replace_subscription(id: SubscriptionId, call: ManagesNotifications) -> Json:  # noqa: A002
    """Replaces a subscription: what the body leaves out gets its default."""
    body = await _body(call)
    await _found(call, str(id))
    await _put(call, str(id), body)
    return Json(await _found(call, str(id)))


@router.delete(f"{PATH}/{{id}}", responses={200: {"model": Deleted}})
async def delete_subscription(id: SubscriptionId, call: ManagesNotifications) -> Json:  # noqa: A002
    """Deletes a subscription. What waits for it is not sent any more; receipts stay."""
    if not await administering(call).delete_subscription(str(id)):
        raise not_found(str(id), "subscription")
    return Json({"status": "success", "id": str(id)})


async def _body(call: HttpCall) -> Subscription:
    body = await read_body(call.request, Subscription, call.services.settings.limits.body_bytes)
    if body.template is not None:
        check_template(body.template.title, "template.title")
        check_template(body.template.text, "template.text")
    return body


async def _put(call: HttpCall, identity: str, body: Subscription) -> None:
    most = call.services.settings.limits.subscriptions
    if not await administering(call).put_subscription(identity, body, most=most):
        if await find(call, "channels", fold(body.channel)) is not None:
            raise limit_reached("subscriptions", most, f"{PATH}/{{id}}")
        described = f"there is no channel {body.channel[:64]!r}; add one with POST /channels"
        raise Refused(Problem("UNKNOWN_CHANNEL", described, "channel"))


async def _found(call: HttpCall, identity: str) -> dict[str, Any]:
    return existing(await find(call, "subscriptions", identity), identity, "subscription")
