"""The port of a reaction: one way to act on the change log."""

from collections.abc import Sequence
from typing import Any, Protocol

from psycopg import Connection

from lily.model.records import ConsumedRecord


class Event(ConsumedRecord):
    """A record of the change log, or one that was parked. `topic`, `partition` and `offset` say where it came from."""

    __slots__ = ()

    @property
    def tenant(self) -> str:
        return self.key.partition(b"/")[0].decode("ascii", "replace")


class Reaction(Protocol):
    """Acts on records of the change log, one tenant at a time, inside a PostgreSQL transaction that the runner owns.

    The offsets of the records commit in that same transaction, so what `handle` writes through the connection happens
    exactly once, however often the process dies. Effects outside PostgreSQL belong in the outbox or in a job.

    What happens when `handle` raises:

    * `Transient`: the transaction is rolled back. The tenant's events are parked and retried with growing pauses;
      other tenants go on.
    * A lost connection or a serialization failure: the whole turn is repeated.
    * Anything else: the batch is halved until the event that causes it is found. That event becomes a dead letter with
      the cause; `POST /dead-letters/replay` hands it to this reaction again. All other events are handled.
    """

    @property
    def name(self) -> str:
        """Names the progress of this reaction in PostgreSQL: never change it."""

    @property
    def topics(self) -> Sequence[str]:
        """What it reads. A reaction pays for every record of these topics, so name no topic with records it drops."""

    def open(self, connection: Connection[Any]) -> None:
        """Prepares a new connection of the runner (temporary tables, session settings) and keeps it for `handle`."""

    def handle(self, tenant: str, events: Sequence[Event]) -> bool | None:
        """Handles records of one tenant, in the order of their partitions. Called again with the same events only if
        its transaction did not commit, or if it returns True: then it has done a part, and goes on after a commit and
        after others had their turn. No two workers handle events of one tenant for one reaction at the same time."""
