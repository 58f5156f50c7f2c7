"""The deliveries of a destination as the worker's job takes and settles them. Runs in the job's transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.model.errors import Problem
from lily.notify.pacing import Pace
from lily.store.postgres.copying import id_array
from lily.store.postgres.jobs.queue import Job, JobQueue, NewJob, enqueue
from lily.store.postgres.queries import query

MAX_ERROR = 1_000
PROBED_JOBS = 20  # of a destination, among whose deliveries one is chosen as probe


class Taken(NamedTuple):
    """A delivery that is to be sent; `lead` is the delivery with which it is sent, `waited` since it was due."""

    id: str
    lead: str | None
    notification: str
    subscription: str
    kind: str
    state: str
    assets: list[str] | None
    owners: list[str]
    attempts: int
    waited: float
    event: dict[str, Any]
    body: dict[str, Any] | None  # None if the subscription was deleted
    enabled: bool


class StoredChannel(NamedTuple):
    name: str
    type: str
    per_second: float | None
    wrapped_key: bytes
    sealed: bytes
    version: int
    created_at: datetime


class Outcome(NamedTuple):
    """What became of an attempt. Without a state it is to be tried again."""

    id: str
    state: str | None
    error: str = ""
    receiver: str = ""
    attempted: bool = True


class Target(NamedTuple):
    """A destination of a channel."""

    channel: str
    destination: str
    target: str


class DeliveryLedger:
    """Of one destination. Raises psycopg's errors."""

    def __init__(self, connection: Connection[Any], tenant: str, target: Target) -> None:
        self._connection, self._tenant, self._target = connection, tenant, target

    def take(self, ids: Collection[str], queued_at: datetime) -> list[Taken]:
        """Locks what is still to be sent, so that nothing joins it any more, and returns it in order. What failed
        before `queued_at` is sent again."""
        wanted: dict[str, Any] = {
            "ids": id_array(dict.fromkeys(ids))
        }  # each is looked up, so one that is named twice would come twice
        self._execute("deliveries/lock", wanted)
        return [Taken(*row) for row in self._execute("deliveries/take", wanted | {"queued_at": queued_at})]

    def probe(self, group: str) -> str | None:
        """The delivery of the job group that has been tried least, in order."""
        rows = self._execute("deliveries/probe", {"group": group, "jobs": PROBED_JOBS})
        return rows[0][0] if rows else None

    def channel(self) -> StoredChannel | None:
        rows = self._execute("subscriptions/channel", {"key": self._target.channel})
        return StoredChannel(*rows[0]) if rows else None

    def handles(self) -> dict[str, dict[str, str]]:
        rows = self._execute("subscriptions/mentions", {"key": None, "beyond": "", "limit": None})
        return {key: shown["handles"] for key, shown in rows}

    def pace(self) -> tuple[Pace, bool, datetime]:
        """How the destination does, whether it wants no more, and the time."""
        ((failures, paused_until, tokens, refilled_at, error, gone, now),) = self._execute(
            "deliveries/pace", {"target": self._target.target}
        )
        return Pace(failures or 0, paused_until, tokens or 0.0, refilled_at, error or ""), bool(gone), now

    def keep_pace(self, pace: Pace, *, gone: bool = False, failed: bool = False, delivered: bool = False) -> None:
        values = {
            **self._target._asdict(),
            "failures": pace.failures,
            "paused_until": pace.paused_until,
            "tokens": pace.tokens,
            "refilled_at": pace.refilled_at,
            "error": storable(pace.error),
            "gone": gone,
            "failed": failed,
            "delivered": delivered,
        }
        self._connection.execute(query("deliveries/keep_pace"), values | {"tenant": self._tenant})

    def previous(self, incidents: Collection[str]) -> dict[str, str]:
        """By incident, what the receiver returned for the first notification about it."""
        if not incidents:
            return {}
        values = {"target": self._target.target, "incidents": id_array(incidents)}
        return {row[0]: row[1] for row in self._execute("deliveries/previous", values)}

    def settle(self, outcomes: Sequence[Outcome]) -> None:
        if not outcomes:
            return
        rows = [
            {
                "id": one.id,
                "state": one.state,
                "receiver": storable(one.receiver),
                "error": storable(one.error),
                "attempts": int(one.attempted),
            }
            for one in outcomes
        ]
        values = {"rows": Jsonb(rows), "tenant": self._tenant}
        self._connection.execute(query("deliveries/settle"), values)

    def dead_letter(self, job: Job, delivery: str, error: str) -> None:
        """One dead letter per delivery, as a job of its own: each can be replayed."""
        arguments = {**job.arguments, "deliveries": [delivery]}
        (identity,) = enqueue(self._connection, self._tenant, NewJob(job.task, arguments, job.group))
        single = job._replace(id=identity, arguments=arguments)
        problem = Problem("JOB_FAILED", f"{job.task}: {error}", self._target.destination)
        JobQueue(self._connection).dead_letter(single, problem)

    def keep_test(self, test: dict[str, Any]) -> None:
        values = {"tenant": self._tenant, "key": self._target.channel, "test": Jsonb(test)}
        self._connection.execute(query("deliveries/keep_test"), values)

    def _execute(self, name: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(query(name), values | {"tenant": self._tenant}).fetchall()


def storable(text: str) -> str:
    """What a receiver or a source returned may have what PostgreSQL does not store."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")[:MAX_ERROR]
