"""`/subscriptions/{id}/explain`: why an event was sent, or not."""

from typing import Annotated

from fastapi import APIRouter, Query

from lily.api.auth.authorisation import denied_references
from lily.api.calls import ManagesNotifications
from lily.api.http.errors import not_found
from lily.api.http.openapi.notifications import Explanation
from lily.api.http.openapi.responses import Json
from lily.api.notifications.explanations import read_explained
from lily.api.routes.notify.subscriptions import PATH, SubscriptionId
from lily.store.postgres.subscriptions.administration import find

MAX_EVENT = 64
EventId = Annotated[
    str,
    Query(
        min_length=1,
        max_length=MAX_EVENT,
        pattern="^[!-~]+$",
        description="The id of a notification, of an incident or of a change event (`change-7`).",
    ),
]

router = APIRouter(tags=["notifications"])


@router.get(f"{PATH}/{{id}}/explain", responses={200: {"model": Explanation}})
async def explain(id: SubscriptionId, event: EventId, call: ManagesNotifications) -> Json:  # noqa: A002 - the contract's
    """Explains why an event was sent to this subscription, or not: every filter with its reason, mutes, quiet hours,
    the group, and each delivery with its last error. For an incident, all of its events, newest first."""
    shown = await find(call.services.database, call.tenant, "subscriptions", str(id))
    explaining, events = await read_explained(call, str(id), event)
    if shown is None or explaining is None:
        raise not_found(str(id), "subscription")
    names = {subject.qualified_name or subject.id for _, occurrence in events for subject in occurrence.subjects}
    # An event that a policy hides is not found: its id is a number, so that a reason would name all hidden assets.
    if not events or await denied_references(call, "READ", names):
        raise not_found(event, "event; it may be older than events are kept")
    items = [await explaining.explained(found, occurrence) for found, occurrence in events]
    return Json({"subscription": str(id), "name": shown["name"], "items": items})
