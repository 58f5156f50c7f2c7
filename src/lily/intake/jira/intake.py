"""Jira as an intake: an issue that is done resolves its incident, one in progress acknowledges it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from lily.incidents import TransitionEvent, content_id
from lily.intake.reading import items, parsed, part, text
from lily.intake.signatures import from_hex, is_signed
from lily.model.errors import Problem, Refused
from lily.model.ids import looks_like_uuid
from lily.model.values import MAX_NAME
from lily.plugins import Delivery, Event, Sender

SOURCE = "jira"
SIGNATURE, PREFIX = "x-hub-signature", "sha256="
UPDATED = "jira:issue_updated"
LABEL = "lily-"  # the channel `jira` labels the issue of an incident with this and the incident's id
# By the key of the status category, which is the same in every language and workflow.
STATES: Final[dict[str, Literal["acknowledged", "resolved"]]] = {"done": "resolved", "indeterminate": "acknowledged"}


class JiraConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Jira:
    Config = JiraConfig

    def __init__(self, config: JiraConfig) -> None:
        pass

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        given = delivery.headers.get(SIGNATURE, "")
        return given.startswith(PREFIX) and is_signed(delivery.body, from_hex(given.removeprefix(PREFIX)), secrets)

    def decode(self, delivery: Delivery) -> list[Any]:
        message = parsed(delivery.body)
        if not isinstance(message, dict):
            raise Refused(Problem("INVALID_TYPE", "a webhook of Jira must be a JSON object", "body"))
        return [message]

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event]:
        """Of an update that did not change the status, and of an issue without an incident, nothing follows."""
        category = part(item, "issue", "fields", "status", "statusCategory", "key")
        state = STATES.get(category) if isinstance(category, str) else None
        if state is None or part(item, "webhookEvent") != UPDATED or not _changes_status(item):
            return []
        event_id, by = content_id(sender.tenant, SOURCE, delivery.body), _by(item, sender)
        key = text(part(item, "issue", "key"), MAX_NAME)
        note = f"Jira issue {key}" if key else ""
        return [
            TransitionEvent(
                event_id if number == 0 else f"{event_id}-{number}",
                delivery.received,
                sender.tenant,
                incident,
                state,
                by,
                note=note,
                correlation=sender.correlation,
                trace=sender.trace,
            )
            for number, incident in enumerate(_incidents(item))
        ]


def _changes_status(item: Any) -> bool:
    return any(part(one, "field") == "status" for one in items(part(item, "changelog", "items")))


def _incidents(item: Any) -> Iterator[str]:
    labels = (one for one in items(part(item, "issue", "fields", "labels")) if isinstance(one, str))
    named = dict.fromkeys(one.removeprefix(LABEL).lower() for one in labels if one.startswith(LABEL))
    return (one for one in named if looks_like_uuid(one))


def _by(item: Any, sender: Sender) -> str:
    names = (text(part(item, "user", field), MAX_NAME // 2) for field in ("emailAddress", "displayName", "accountId"))
    return f"{sender.by}:{next((name for name in names if name), 'unknown')}"
