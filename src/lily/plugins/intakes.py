"""The port `lily.intakes`: turns the events of other systems into Lily's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from lily.incidents.events import IncidentEvent
from lily.incidents.transitions import TransitionEvent
from lily.model.columns import ColumnsEvent
from lily.model.directory import UserEvent
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.envelopes import FUTURE_SKEW
from lily.model.errors import Problem
from lily.model.events import AssetEvent

Event = AssetEvent | ColumnsEvent | EdgeEvent | ClaimsEvent | IncidentEvent | TransitionEvent | UserEvent


@dataclass(frozen=True, slots=True)
class Delivery:
    """What another system sent. The names of `headers` are in lower case."""

    body: bytes
    headers: Mapping[str, str]
    received: str  # Lily's clock, for events that name no time of their own
    skew: timedelta = FUTURE_SKEW  # how far an event's own time may be after `received`


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of the events: every event gets its tenant and its name."""

    tenant: str
    by: str = ""
    authorised: bool = False
    correlation: str = ""
    trace: str = ""
    describes: bool = True  # it has `metadata:write`: it may state owners, tags and descriptions, and delete assets
    reads: bool = True  # it has `metadata:read`: what it states may depend on what the catalogue knows


class Intake(Protocol):
    """One foreign event format. Constructed with its validated configuration; pure: it does no I/O.

    `decode` and `events` raise Refused with everything that is wrong. Refused by `decode` concerns the whole
    delivery, by `events` that item alone. Any other exception is a bug of the intake: the API responds with 500, stores
    nothing of the item that raised it, and repeating the delivery is harmless.
    """

    @property
    def Config(self) -> type[BaseModel]:  # noqa: N802 - a class attribute, and a class
        """A class attribute: the model of the configuration. It refuses unknown settings."""
        ...

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        """Returns whether one of the secrets signed the delivery, compared in constant time. False without a secret,
        and always for a format that has no signature: its senders authenticate with a token instead."""
        ...

    def decode(self, delivery: Delivery) -> Sequence[Any]:
        """Returns the items of the delivery, each of which is accepted or refused on its own."""
        ...

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> Sequence[Event | Problem]:
        """Returns the events of one item. They are stored all together, or none of them. A Problem among them reports a
        part of the item that was ignored; it is returned to the sender as a warning. What `POST /webhook/NAME` receives
        can only state incidents, change their state, or change users; the event ids follow from the delivery, so that a
        repeat is the same. No events: the item concerns nothing that Lily knows."""
        ...


@runtime_checkable
class Handshake(Protocol):
    """An optional power of an intake: its sender verifies an address before it delivers anything there."""

    def handshake(self, delivery: Delivery) -> Mapping[str, str] | None:
        """Returns the response that the sender expects, and None for a delivery that is to be stored. Called for
        deliveries that were verified."""
        ...
