"""The port `lily.channels`: delivers a notification to a destination."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

Severity = Literal["info", "warning", "critical"]


@dataclass(frozen=True, slots=True)
class Notification:
    """`id` is the idempotency key: the same id is the same notification, however often it is delivered."""

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


class Channel(Protocol):
    """A way to reach people or systems: Slack, email, a webhook. Constructed with its validated configuration.

    Raises Transient if a later attempt may succeed (no response, 429, 5xx); the delivery is then repeated with
    backoff, with the same id. Raises Terminal where it cannot (unknown destination, expired secret); the delivery is
    then a dead letter. Anything else it raises counts as Terminal. Delivery is at least once: a channel passes the id
    on where the other side drops repeats by it.
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
