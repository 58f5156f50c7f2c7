"""Slack as an intake: a click on *Acknowledge* acknowledges the incident, in the name of the one who clicked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from lily.intake.reading import items, parsed, part, required_object
from lily.intake.settings import NoSettings
from lily.intake.signatures import from_hex, is_recent, is_signed
from lily.intake.transitions import person, transitions
from lily.model.errors import Problem, Refused
from lily.plugins import Delivery, Event, Sender

SIGNATURE, TIME = "x-slack-signature", "x-slack-request-timestamp"
VERSION = "v0"
ACKNOWLEDGE = "lily.acknowledge"  # the action of the button in the messages of the channel `slack`
MAX_FIELDS = 10  # of a form
MAX_CHALLENGE = 512


class Slack:
    Config = NoSettings

    def __init__(self, config: NoSettings) -> None:
        pass

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        time, given = delivery.headers.get(TIME, ""), delivery.headers.get(SIGNATURE, "")
        if not is_recent(time, delivery.received) or not given.startswith(f"{VERSION}="):
            return False
        content = f"{VERSION}:{time}:".encode() + delivery.body
        return is_signed(content, from_hex(given.removeprefix(f"{VERSION}=")), secrets)

    def handshake(self, delivery: Delivery) -> Mapping[str, str] | None:
        """Slack verifies an address by a challenge that it wants back."""
        try:
            message = _message(delivery.body)
        except Refused:
            return None
        challenge = part(message, "challenge")
        if part(message, "type") != "url_verification" or not isinstance(challenge, str):
            return None
        return {"challenge": challenge} if len(challenge) <= MAX_CHALLENGE else None

    def decode(self, delivery: Delivery) -> list[Any]:
        return [required_object(_message(delivery.body), "the payload of Slack")]

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event]:
        """Of other buttons and other payloads nothing follows."""
        if part(item, "type") != "block_actions":
            return []
        by = person(part(item, "user"), ("username", "name", "id"), sender)
        return transitions(_incidents(item), "acknowledged", by, delivery, sender)


def _message(body: bytes) -> Any:
    """Slack sends clicks as a form with the field `payload`, and what it verifies an address with as JSON."""
    if body.lstrip()[:1] == b"{":
        return parsed(body)
    try:
        form = parse_qs(body.decode(), strict_parsing=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise Refused(Problem("INVALID_VALUE", "the body is neither JSON nor a form with `payload`", "body")) from error
    return parsed(form.get("payload", [""])[0].encode())


def _incidents(item: Any) -> Iterator[str]:
    clicked = (one for one in items(part(item, "actions")) if part(one, "action_id") == ACKNOWLEDGE)
    return (value for one in clicked if isinstance(value := part(one, "value"), str))
