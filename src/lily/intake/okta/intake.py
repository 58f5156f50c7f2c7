"""Okta's event hooks as an intake: several events per delivery, authenticated by a shared `Authorization` value."""

from collections.abc import Sequence
from typing import Any

from lily.incidents import content_id
from lily.intake.okta.changes import read_change
from lily.intake.reading import parsed, part
from lily.intake.settings import NoSettings
from lily.intake.signatures import is_secret
from lily.model.directory import UserEvent
from lily.model.errors import Problem, Refused
from lily.plugins import Delivery, Event, Sender

SOURCE = "okta"
CHALLENGE = "x-okta-verification-challenge"
MAX_CHALLENGE = 512
MAX_EVENTS = 1_000


class Okta:
    Config = NoSettings

    def __init__(self, config: NoSettings) -> None:
        pass

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        return is_secret(delivery.headers.get("authorization", ""), secrets)

    def decode(self, delivery: Delivery) -> list[Any]:
        events = part(parsed(delivery.body), "data", "events")
        if not isinstance(events, list) or len(events) > MAX_EVENTS:
            described = f"data.events must be a list of at most {MAX_EVENTS} events"
            raise Refused(Problem("INVALID_TYPE", described, "data.events"))
        return events

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event]:
        """The id follows from Okta's uuid: an event may come again in another delivery."""
        stated = read_change(item, delivery.received)
        if stated is None:
            return []
        return [
            UserEvent(
                content_id(sender.tenant, SOURCE, stated.uuid.encode()),
                stated.time,
                sender.tenant,
                stated.user,
                stated.change,
                sender.by,
                group=stated.group,
                correlation=sender.correlation,
                trace=sender.trace,
            )
        ]


def verification(challenge: str) -> dict[str, str]:
    """What Okta expects when it verifies an address. It reveals nothing, so it needs no secret. Raises Refused."""
    if not challenge or len(challenge) > MAX_CHALLENGE:
        described = f"send the header X-Okta-Verification-Challenge with 1 to {MAX_CHALLENGE} characters, as Okta does"
        raise Refused(Problem("INVALID_VALUE", described, "X-Okta-Verification-Challenge"))
    return {"verification": challenge}
