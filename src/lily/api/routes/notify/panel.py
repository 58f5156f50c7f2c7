"""`/notifications`: what happened, newest first; who acknowledged it; and what became of each delivery."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from lily.api.auth.authorisation import denied_references
from lily.api.auth.restrictions import restrictions_of
from lily.api.calls import Acknowledges, HttpCall, ReadsNotifications
from lily.api.http import cursors
from lily.api.http.errors import existing, not_found
from lily.api.http.openapi.notifications import Acknowledged, NotificationDetail, Notifications
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.reads.references import resolve
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME
from lily.notify.events import Severity
from lily.notify.kinds import is_pattern
from lily.store.postgres.incidents import reader
from lily.store.postgres.notifications.panel import Chosen, Listed, acknowledge, read_deliveries, read_panel

PATH = "/notifications"
MAX_READS = 5  # of one page, where policies deny some of the assets to the caller
NotificationId = Annotated[uuid.UUID, Path(description="The notification's id.")]

router = APIRouter(tags=["notifications"])


@dataclass(frozen=True, slots=True)
class Filters:
    kind: Annotated[
        str | None, Query(max_length=MAX_NAME, description="Only this kind, such as `incident.opened` or `tag.*`.")
    ] = None
    severity: Annotated[Severity | None, Query(description="Only this severity.")] = None
    acknowledged: Annotated[bool | None, Query(description="Only those that are, or are not.")] = None
    asset: Annotated[
        str | None, Query(max_length=MAX_QUALIFIED_NAME, description="Only those about this asset, by id or name.")
    ] = None
    incident: Annotated[uuid.UUID | None, Query(description="Only those about this incident.")] = None
    muted: Annotated[bool, Query(description="Those that are muted instead of the others.")] = False

    def chosen(self, call: HttpCall) -> Chosen:
        if self.kind is not None and not is_pattern(self.kind):
            described = f"unknown kind `{self.kind[:64]}`; use one such as `incident.opened` or `tag.*`"
            raise Refused(Problem("INVALID_VALUE", described, "kind"))
        return Chosen(
            kind=self.kind and self.kind.replace("*", "%"),
            severity=self.severity,
            acknowledged=self.acknowledged,
            asset=None if self.asset is None else resolve(call.tenant, self.asset),
            incident=None if self.incident is None else str(self.incident),
            muted=self.muted,
            of_incidents=_of_incidents(call),
        )


@router.get(PATH, responses={200: {"model": Notifications}})
async def notifications(
    call: ReadsNotifications, filters: Annotated[Filters, Depends()], limit: Limit = DEFAULT, cursor: Cursor = None
) -> Json:
    """Returns notifications, newest first: incidents, and everything that a subscription matched. Those about incidents
    and what they put at risk need `incidents:read`, the others `metadata:read`. What is about assets that a policy
    denies to the caller is left out, and so is what is about an incident that concerns such an asset."""
    chosen = filters.chosen(call)
    question = (call.tenant, "notifications", repr(chosen))
    below = None if cursor is None else cursors.unseal(cursor, cursors.NUMBER, *question)
    size, items = checked_limit(call, limit), list[Listed]()
    for _ in range(MAX_READS):
        wanted = size - len(items) + 1
        found = await read_panel(call.services.database, call.tenant, chosen, below, wanted)
        shown, rest = found[: wanted - 1], found[wanted - 1 :]
        items += await _visible(call, shown)
        below = shown[-1].position if rest else None
        if not rest or len(items) == size:
            break
    more = None if below is None else cursors.seal(below, *question)
    return Json({"items": [one.shown for one in items], "next_cursor": more})


@router.get(f"{PATH}/{{id}}", responses={200: {"model": NotificationDetail}})
async def notification(id: NotificationId, call: ReadsNotifications) -> Json:  # noqa: A002 - the contract's name
    """Returns one notification with its deliveries: where it was sent and when, what the receiver returned, what
    failed and why."""
    found = await _found(call, Chosen(id=str(id), of_incidents=_of_incidents(call)))
    deliveries = await read_deliveries(call.services.database, call.tenant, str(id))
    return Json({**found.shown, "deliveries": deliveries})


@router.post(f"{PATH}/{{id}}/acknowledge", responses={200: {"model": Acknowledged}})
async def acknowledge_notification(id: NotificationId, call: Acknowledges) -> Json:  # noqa: A002
    """Acknowledges a notification, for everyone who reads the list. The first acknowledgement counts. The incident
    itself is acknowledged with `POST /incidents/{id}/acknowledge`."""
    await _found(call, Chosen(id=str(id)))
    done = await acknowledge(call.services.database, call.tenant, str(id), call.principal.name)
    by, at = existing(done, str(id), "notification")
    return Json({"status": "success", "id": str(id), "acknowledged_by": by, "acknowledged_at": at})


def _of_incidents(call: HttpCall) -> bool | None:
    """What the scopes of the caller cover, as on the WebSocket: `metadata:read` alone does not show incidents."""
    incidents, others = call.principal.may("incidents:read"), call.principal.may("metadata:read")
    return None if incidents and others else incidents


async def _found(call: HttpCall, chosen: Chosen) -> Listed:
    """Raises Declined with 404 also if a policy hides it: ids follow from the numbers of events, so that a reason would
    name the assets of all of them."""
    found = await _visible(call, await read_panel(call.services.database, call.tenant, chosen, None, 1))
    if not found:
        raise not_found(chosen.id or "", "notification")
    return found[0]


async def _visible(call: HttpCall, listed: list[Listed]) -> list[Listed]:
    """A title or text may name any of the assets, so one that is denied hides the notification."""
    if await restrictions_of(call.services, call.principal, "READ") is None:
        return listed
    named = await _named(call, listed)
    denied = await denied_references(call, "READ", set().union(*named))
    return [one for one, names in zip(listed, named, strict=True) if denied.keys().isdisjoint(names)]


async def _named(call: HttpCall, listed: list[Listed]) -> list[set[str]]:
    """What each may name: its own assets, and those that its incident concerns by now. A risk is about what is
    downstream of these, and an incident may have been announced before its assets were known.

    By name, where there is one: a column that only the lake has is known as one of its table's by its name alone."""
    incidents = {one.shown["incident_id"] for one in listed} - {None}
    concerned = await reader.concerned(call.services.database, call.tenant, incidents)
    return [
        {asset["qualified_name"] or asset["id"] for asset in one.shown["assets"]}
        | concerned.get(one.shown["incident_id"], set())
        for one in listed
    ]
