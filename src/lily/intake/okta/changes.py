"""What an event of Okta states about a user. Every field may be missing, null or of another type."""

from typing import Any, Final, NamedTuple

from lily.intake.reading import an_object, items, part
from lily.model import clock
from lily.model.directory import UserChange
from lily.model.errors import Problem, Refused
from lily.model.values import Checker

LIFECYCLE: Final[dict[str, UserChange]] = {
    "user.lifecycle.deactivate": "disabled",
    "user.lifecycle.suspend": "disabled",
    "user.lifecycle.delete.initiated": "disabled",
    "user.lifecycle.delete.completed": "disabled",
    "user.lifecycle.delete": "disabled",
    "user.lifecycle.activate": "enabled",
    "user.lifecycle.reactivate": "enabled",
    "user.lifecycle.unsuspend": "enabled",
}
MEMBERSHIP: Final[dict[str, UserChange]] = {
    "group.user_membership.add": "joined",
    "group.user_membership.remove": "left",
}
_SUCCESS = frozenset({"SUCCESS", "ALLOW", ""})


class Stated(NamedTuple):
    """`uuid` identifies the event: Okta delivers one more than once."""

    uuid: str
    change: UserChange
    user: str
    group: str
    time: str


def read_change(event: Any, received: str) -> Stated | None:
    """None for an event of a type that concerns no user of Lily, or that did not succeed. Raises Refused for one that
    lacks what it is about."""
    kind = part(event, "eventType")
    change = (LIFECYCLE | MEMBERSHIP).get(kind) if isinstance(kind, str) else None
    if change is None or (part(event, "outcome", "result") or "") not in _SUCCESS:
        return None
    checker = Checker()
    uuid = checker.name(part(event, "uuid"), "uuid")
    user = checker.name(_target(event, "User", "alternateId"), "target[User].alternateId")
    group = (
        checker.name(_target(event, "UserGroup", "displayName"), "target[UserGroup].displayName")
        if (kind in MEMBERSHIP)
        else ""
    )
    if checker.problems:
        raise Refused(*checker.problems)
    return Stated(uuid or "", change, user or "", group or "", _time(part(event, "published"), received))


def _target(event: Any, kind: str, field: str) -> Any:
    found = (an_object(one) for one in items(part(event, "target")))
    return next((one.get(field) for one in found if one.get("type") == kind), None)


def _time(published: Any, received: str) -> str:
    """Okta's own time. A time that is still to come would outdate every event until then, so it counts as now."""
    if published is None:
        return received
    try:
        return min(clock.normalise_time(published), received)
    except (TypeError, ValueError) as error:
        described = (
            f"published must be a time with a zone, such as 2026-01-31T08:00:00.000Z, not {str(published)[:64]!r}"
        )
        raise Refused(Problem("INVALID_VALUE", described, "published")) from error
