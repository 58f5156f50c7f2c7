"""The port `lily.channels`: delivers a notification to a destination."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from lily.model.errors import Terminal

Severity = Literal["info", "warning", "critical"]


class DestinationGone(Terminal):
    """The receiver wants no more notifications (410 Gone): nothing is delivered to this destination until someone
    enables it again."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Someone to notify personally. `handle` is who that is at the channel: a Slack user id, a Jira account id."""

    name: str
    handle: str


@dataclass(frozen=True, slots=True)
class Notification:
    """`id` is the idempotency key: the same id is the same notification, however often it is delivered.

    A mention replaces `@name` in the text; one that the text does not have is added at its end. `url` is a link for
    people: a channel passes on http and https alone. `data` of a notification about an incident has `incident_id`,
    `state` (open, acknowledged, resolved) and `previous`: what `deliver` returned for the first notification about that
    incident to that destination, empty if there was none. A channel that has threads or tickets continues there.
    """

    id: str
    tenant: str
    kind: str
    severity: Severity
    title: str
    text: str
    at: str
    url: str = ""
    assets: tuple[str, ...] = ()  # qualified names
    data: Mapping[str, Any] = field(default_factory=dict)
    mentions: tuple[Mention, ...] = ()


class Channel(Protocol):
    """A way to reach people or systems: Slack, email, a webhook. Constructed with its validated configuration. One that
    has to know its tenant or which networks it may reach has a method `situate` (`lily.plugins.Situated`).

    Raises Transient if a later attempt may succeed (no response, 429, 5xx), with `retry_after` where the receiver names
    a pause; the delivery is then repeated with backoff, with the same id. Raises Terminal where it cannot (unknown
    destination, expired secret); the delivery is then a dead letter. Raises DestinationGone if the receiver wants no
    more; the destination is then disabled. Anything else it raises counts as Terminal. No message has a secret of the
    configuration in it. Delivery is at least once: a channel passes the id on where the other side drops repeats by it.
    """

    @property
    def Config(self) -> type[BaseModel]:  # noqa: N802 - a class attribute, and a class
        """A class attribute: the model of the configuration. It refuses unknown settings."""
        ...

    async def check(self, destination: str) -> None:
        """Raises unless a notification could be delivered there. Delivers nothing."""
        ...

    async def deliver(self, notification: Notification, destination: str) -> str:
        """Delivers it; returns the receiver's own id or link, empty if it has none. Safe to call concurrently."""
        ...

    async def close(self) -> None:
        """Closes connections. Always called; idempotent."""
        ...
