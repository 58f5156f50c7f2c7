"""Slack as an intake: a click on *Acknowledge* acknowledges the incident, in the name of the one who clicked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict

from lily.incidents import TransitionEvent, content_id
from lily.intake.reading import items, parsed, part, text
from lily.intake.signatures import from_hex, is_recent, is_signed
from lily.model.errors import Problem, Refused
from lily.model.ids import looks_like_uuid
from lily.model.values import MAX_NAME
from lily.plugins import Delivery, Event, Sender

SOURCE = "slack"
SIGNATURE, TIME = "x-slack-signature", "x-slack-request-timestamp"
VERSION = "v0"
ACKNOWLEDGE = "lily.acknowledge"  # the action of the button in the messages of the channel `slack`
MAX_FIELDS = 10  # of a form
MAX_CHALLENGE = 512


class SlackConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Slack:
    Config = SlackConfig

    def __init__(self, config: SlackConfig) -> None:
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
        message = _message(delivery.body)
        if not isinstance(message, dict):
            raise Refused(Problem("INVALID_TYPE", "the payload of Slack must be a JSON object", "payload"))
        return [message]

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event]:
        """Of other buttons and other payloads nothing follows."""
        if part(item, "type") != "block_actions":
            return []
        event_id = content_id(sender.tenant, SOURCE, delivery.body)
        return [
            TransitionEvent(
                event_id if number == 0 else f"{event_id}-{number}",
                delivery.received,
                sender.tenant,
                incident,
                "acknowledged",
                _by(item, sender),
                correlation=sender.correlation,
                trace=sender.trace,
            )
            for number, incident in enumerate(_incidents(item))
        ]


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
    values = dict.fromkeys(value.lower() for one in clicked if isinstance(value := part(one, "value"), str))
    return (value for value in values if looks_like_uuid(value))


def _by(item: Any, sender: Sender) -> str:
    names = (text(part(item, "user", field), MAX_NAME // 2) for field in ("username", "name", "id"))
    return f"{sender.by}:{next((name for name in names if name), 'unknown')}"
