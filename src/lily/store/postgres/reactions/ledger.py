"""What one reaction stores: its offsets, the tenants it has committed within a turn, parked events, dead letters.

Every method runs in the caller's transaction, so progress commits together with the effects of the events.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.model.errors import Problem
from lily.model.records import ConsumedRecord, Partition
from lily.store.postgres.queries import query

SEPARATOR = "@"  # between a topic and the reaction that reads it, in `applied` and in dead letters


class ParkedEvent(NamedTuple):
    id: int
    topic: str
    partition: int
    offset: int
    key: bytes
    value: bytes


class FailedEvent(NamedTuple):
    """An event that the reaction cannot handle."""

    event: ConsumedRecord
    problem: Problem


def progress_topic(topic: str, reaction: str) -> str:
    """The name under which `applied` records how far a reaction has read a topic."""
    return f"{topic}{SEPARATOR}{reaction}"


class ReactionLedger:
    def __init__(self, connection: Connection[Any], reaction: str) -> None:
        self._connection, self._reaction = connection, reaction

    def offsets(self, topics: Iterable[str]) -> dict[Partition, int]:
        """The next offset to read, for every partition that was ever read."""
        names = {progress_topic(topic, self._reaction): topic for topic in topics}
        rows = self._connection.execute(query("reactions/offsets"), [list(names)]).fetchall()
        return {(names[name], partition): offset for name, partition, offset in rows}

    def committed_tenants(self) -> dict[tuple[str, int, str], int]:
        """For interrupted turns: the next offset to handle, by topic, partition and tenant."""
        rows = self._connection.execute(query("reactions/committed_tenants"), [self._reaction]).fetchall()
        return {(topic, partition, tenant): offset for topic, partition, tenant, offset in rows}

    def commit_tenant(self, tenant: str, ends: Mapping[Partition, int]) -> None:
        """Records that the tenant's events below these offsets are handled, while those of other tenants are not."""
        rows = [(self._reaction, *partition, tenant, offset) for partition, offset in ends.items()]
        self._connection.cursor().executemany(query("reactions/commit_tenant"), rows)

    def advance(self, ends: Mapping[Partition, int]) -> None:
        """Records that all events below these offsets are handled."""
        rows = [(progress_topic(topic, self._reaction), at, offset) for (topic, at), offset in ends.items()]
        self._connection.cursor().executemany(query("progress/advance"), rows)
        topics, partitions = [topic for topic, _ in ends], [at for _, at in ends]
        self._connection.execute(query("reactions/end_turn"), [self._reaction, topics, partitions])
        self._connection.execute("select pg_notify('lily_applied', '')")

    def is_parked(self, tenant: str) -> bool:
        parameters = {"reaction": self._reaction, "tenant": tenant}
        return bool(self._connection.execute(query("reactions/is_parked"), parameters).fetchone())

    def park(self, tenant: str, events: Sequence[ConsumedRecord]) -> None:
        """Stores events for later turns of the tenant."""
        columns = [list(column) for column in zip(*events, strict=True)]
        self._connection.execute(query("reactions/park"), [self._reaction, tenant, *columns])
        self._connection.execute(query("reactions/park_tenant"), [self._reaction, tenant])

    def postpone(self, tenant: str, seconds: Sequence[int], reason: str) -> None:
        """Delays the tenant's next attempt: after n failures in a row by the n-th pause."""
        parameters = {"reaction": self._reaction, "tenant": tenant, "pauses": list(seconds), "reason": reason[:1_000]}
        self._connection.execute(query("reactions/postpone"), parameters)

    def due_tenants(self, limit: int) -> list[str]:
        """Tenants with parked events whose pause is over, the longest waiting first."""
        rows = self._connection.execute(query("reactions/due_tenants"), [self._reaction, limit])
        return [tenant for (tenant,) in rows]

    def leave_unfinished(self, tenant: str, events: int) -> None:
        """The reaction goes on with so many of the tenant's parked events, after other tenants had their turn."""
        parameters = {"reaction": self._reaction, "tenant": tenant, "events": events}
        self._connection.execute(query("reactions/leave_unfinished"), parameters)
        self._connection.execute("select pg_notify('lily_applied', '')")

    def parked(self, tenant: str, limit: int) -> list[ParkedEvent]:
        """The tenant's oldest parked events, or those with which the reaction has begun; none if its pause is not
        over."""
        rows = self._connection.execute(query("reactions/parked"), [self._reaction, tenant, limit])
        return [ParkedEvent(*row) for row in rows]

    def unpark(self, tenant: str, last: int) -> None:
        """Removes the tenant's parked events up to this id: they are handled."""
        self._connection.execute(query("reactions/unpark"), [self._reaction, tenant, last])
        self._connection.execute(query("reactions/unpark_tenant"), [self._reaction, tenant])
        self._connection.execute("select pg_notify('lily_applied', '')")

    def parked_events(self) -> int:
        row = self._connection.execute(query("reactions/count_parked"), [self._reaction]).fetchone()
        return int(row[0]) if row else 0

    def dead_letter(self, tenant: str, failures: Sequence[FailedEvent]) -> None:
        if not failures:
            return
        (batch,) = self._connection.execute(query("outbox/open_batch"), (None, None, None, None)).fetchone() or (0,)
        rows = [
            {
                "batch": batch,
                "tenant": tenant,
                "topic": progress_topic(topic, self._reaction),
                "partition": partition,
                "offset": offset,
                "key": key,
                "original": value,
                "errors": Jsonb([problem.as_dict()]),
            }
            for (topic, partition, offset, key, value), problem in failures
        ]
        self._connection.cursor().executemany(query("reactions/dead_letter"), rows)
