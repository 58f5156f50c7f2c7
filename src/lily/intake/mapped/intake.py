"""A mapping as an intake: the messages of a source that Lily has no code for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lily.incidents import IncidentEvent, content_id
from lily.intake.mapped.fields import Reader
from lily.intake.mapped.mapping import Mapping
from lily.intake.mapped.paths import MAX_FOUND, read_path
from lily.intake.mapped.scopes import Message, Scope
from lily.intake.mapped.verifying import verified
from lily.intake.reading import canonical, parsed
from lily.model.errors import Problem, Refused
from lily.plugins import Delivery, Event, Sender

MAX_MAPPED = MAX_FOUND  # items of one delivery: of more, a path finds only the first


class Item(NamedTuple):
    """One item, the message that it is part of, and what identifies the two."""

    message: Message
    item: Any
    identity: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an item becomes: an event, or nothing, and why."""

    event: IncidentEvent | None
    ignored: str = ""


class Mapped:
    Config = Mapping

    def __init__(self, config: Mapping) -> None:
        self.mapping = config
        self._reader = Reader(config)
        stated = config.items or []
        self._items = [read_path(text) for text in ([stated] if isinstance(stated, str) else stated)]

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        return verified(self.mapping.signature, delivery, secrets)

    def decode(self, delivery: Delivery) -> list[Any]:
        """Of several paths to items, the first that leads to something holds. None: the message concerns nothing."""
        message = parsed(delivery.body)
        if not isinstance(message, dict | list):
            raise Refused(Problem("INVALID_TYPE", "a message must be a JSON object or list", "body"))
        found = [message]
        if self._items:
            matches = (path.find(message, message) for path in self._items)
            found = next((one for one in matches if one), [])
        if len(found) >= MAX_MAPPED:
            described = f"a delivery must have fewer than {MAX_MAPPED} items; send it in parts"
            raise Refused(Problem("TOO_LONG", described, self.mapping.name))
        digest = content_id("", self.mapping.name, canonical(message)).encode()
        whole = Message(message)
        return [Item(whole, item, digest + str(number).encode()) for number, item in enumerate(found)]

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event]:
        outcome = self.outcome(item, delivery, sender)
        return [] if outcome.event is None else [outcome.event]

    def outcome(self, item: Item, delivery: Delivery, sender: Sender) -> Outcome:
        """Raises Refused for an item that names no incident."""
        read = self._reader.read(Scope(item.message, item.item), delivery, sender.by)
        if read.statement is None:
            return Outcome(None, read.ignored)
        event_id = content_id(sender.tenant, self.mapping.name, item.identity)
        return Outcome(
            IncidentEvent(
                event_id,
                read.time,
                sender.tenant,
                read.statement,
                correlation=sender.correlation,
                trace=sender.trace,
            )
        )
