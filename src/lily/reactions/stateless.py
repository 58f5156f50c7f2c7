"""A reaction that keeps nothing between two calls but the connection."""

from collections.abc import Callable, Sequence
from typing import Any

from psycopg import Connection

from lily.reactions.base import Event


class StatelessReaction:
    """Calls `react` with the connection, in the runner's transaction. What `react` raises is as in `Reaction`."""

    def __init__(
        self, name: str, topics: Sequence[str], react: Callable[[Connection[Any], str, Sequence[Event]], None]
    ) -> None:
        self.name, self.topics = name, topics
        self._react = react
        self._connection: Connection[Any] | None = None

    def open(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def handle(self, tenant: str, events: Sequence[Event]) -> None:
        assert self._connection is not None  # noqa: S101 - the runner opens a reaction before it handles anything
        self._react(self._connection, tenant, events)
