"""Jira as an intake: an issue that is done resolves its incident, one in progress acknowledges it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from lily.intake.reading import items, parsed, part, required_object, text
from lily.intake.settings import NoSettings
from lily.intake.signatures import from_hex, is_signed
from lily.intake.transitions import NewState, person, transitions
from lily.model.values import MAX_NAME
from lily.plugins import Delivery, Event, Sender

SIGNATURE, PREFIX = "x-hub-signature", "sha256="
UPDATED = "jira:issue_updated"
LABEL = "lily-"  # the channel `jira` labels the issue of an incident with this and the incident's id
# By the key of the status category, which is the same in every language and workflow.
STATES: Final[dict[str, NewState]] = {"done": "resolved", "indeterminate": "acknowledged"}


class Jira:
    Config = NoSettings

    def __init__(self, config: NoSettings) -> None:
        pass

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        given = delivery.headers.get(SIGNATURE, "")
        return given.startswith(PREFIX) and is_signed(delivery.body, from_hex(given.removeprefix(PREFIX)), secrets)

    def decode(self, delivery: Delivery) -> list[Any]:
        return [required_object(parsed(delivery.body), "a webhook of Jira")]

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event]:
        """Of an update that did not change the status, and of an issue without an incident, nothing follows."""
        category = part(item, "issue", "fields", "status", "statusCategory", "key")
        state = STATES.get(category) if isinstance(category, str) else None
        if state is None or part(item, "webhookEvent") != UPDATED or not _changes_status(item):
            return []
        key = text(part(item, "issue", "key"), MAX_NAME)
        by = person(part(item, "user"), ("emailAddress", "displayName", "accountId"), sender)
        return transitions(_incidents(item), state, by, delivery, sender, note=f"Jira issue {key}" if key else "")


def _changes_status(item: Any) -> bool:
    return any(part(one, "field") == "status" for one in items(part(item, "changelog", "items")))


def _incidents(item: Any) -> Iterator[str]:
    labels = (one for one in items(part(item, "issue", "fields", "labels")) if isinstance(one, str))
    return (one.removeprefix(LABEL) for one in labels if one.startswith(LABEL))
