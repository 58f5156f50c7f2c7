"""Jobs that wait in PostgreSQL: how they get there, and how a worker takes them.

A *group* is what runs in order: one job of it at a time, on whichever worker. What a job does through the worker's
connection commits together with its removal from the queue.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import takewhile
from typing import Any, NamedTuple

import orjson
from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.model.errors import Problem, Transient
from lily.store.postgres.queries import query

CHANNEL = "lily_jobs"  # heard when jobs were queued
TOPIC = "jobs"  # of dead letters
SYSTEM = ""  # the tenant of Lily's own jobs


class NewJob(NamedTuple):
    """A job to be queued. `group` names what it must not overtake, such as a destination; the task itself by default.
    It runs as soon as it can, or not before `run_at`; a group is in the order of `run_at`."""

    task: str
    arguments: Mapping[str, Any]
    group: str = ""
    run_at: datetime | None = None


class Group(NamedTuple):
    tenant: str
    name: str


class Job(NamedTuple):
    """A queued job. Its id stays the same through retries and replays, so it can serve as an idempotency key."""

    id: int
    tenant: str
    group: str
    task: str
    arguments: dict[str, Any]
    attempts: int  # that failed before this one
    starts: int  # before this one after which the process ended
    enqueued_at: datetime


class Ready(NamedTuple):
    groups: list[Group]
    next_seconds: float | None  # until another group becomes ready; None if none waits


class Taken(Transient):
    """Another worker has run the job, or it was removed."""


def enqueue(connection: Connection[Any], tenant: str, *jobs: NewJob) -> list[int]:
    """Queues jobs in the caller's transaction, in the order given, and returns their ids. They run once it commits; if
    it is rolled back they never were."""
    asked = {
        "tenant": tenant,
        "groups": [job.group or job.task for job in jobs],
        "tasks": [job.task for job in jobs],
        "arguments": [Jsonb(job.arguments) for job in jobs],
        "run_at": [job.run_at for job in jobs],
    }
    return [id_ for id_, _ in connection.execute(query("jobs/enqueue"), asked)]


class JobQueue:
    """The queue on one connection of the pipeline's role."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def ready(self, tasks: Collection[str], busy: Collection[Group], limit: int) -> Ready:
        """Groups whose first job can run and is one of the tasks, tenants in turns, without those that are busy."""
        asked = {
            "tasks": list(tasks),
            "busy_tenants": [group.tenant for group in busy],
            "busy_groups": [group.name for group in busy],
            "limit": limit,
        }
        rows = self._connection.execute(query("jobs/ready"), asked).fetchall()
        return Ready([Group(tenant, name) for _, tenant, name in rows if name is not None], rows[0][0])

    @contextmanager
    def locked(self, group: Group) -> Iterator[bool]:
        """Holds the group; yields False if another worker does. The lock ends with the connection at the latest."""
        lock = [orjson.dumps([TOPIC, *group]).decode()]
        row = self._connection.execute("select pg_try_advisory_lock(hashtextextended(%s, 0))", lock).fetchone()
        taken = bool(row and row[0])
        try:
            yield taken
        finally:
            if taken and not self._connection.closed:
                self._connection.execute("select pg_advisory_unlock(hashtextextended(%s, 0))", lock)

    def first(self, group: Group, tasks: Collection[str], limit: int) -> list[Job]:
        """The jobs of a group that can run one after the other now. Hold the group's lock before asking: what the last
        holder has finished is no longer seen then."""
        asked = {"tenant": group.tenant, "group": group.name, "limit": limit}
        rows = self._connection.execute(query("jobs/first_of_group"), asked).fetchall()
        return [Job(*row[:-1]) for row in takewhile(lambda row: row[-1] and row[3] in tasks, rows)]

    def count_start(self, job: Job) -> None:
        """Records that the job was started, until it has succeeded or failed."""
        self._connection.execute(query("jobs/count_start"), {"tenant": job.tenant, "id": job.id})

    def finish(self, job: Job) -> None:
        """Removes a job. Call it in the transaction of the job's effects. Raises Taken if the job is gone."""
        done = self._connection.execute(query("jobs/finish"), {"tenant": job.tenant, "id": job.id})
        if done.rowcount != 1:
            raise Taken(f"Job {job.id} ({job.task}) is no longer queued; what it did is rolled back.")

    def postpone(self, job: Job, seconds: float, reason: str) -> None:
        """The job, and with it its group, waits for another attempt."""
        asked = {"tenant": job.tenant, "id": job.id, "seconds": seconds, "reason": _storable(reason)}
        self._connection.execute(query("jobs/postpone"), asked)

    def dead_letter(self, job: Job, problem: Problem) -> None:
        """Removes a job for good and keeps it as a dead letter with the cause. The group goes on."""
        with self._connection.transaction():
            self.finish(job)
            (batch,) = self._connection.execute(query("outbox/open_batch"), (None, None, None, None)).fetchone() or (0,)
            letter = {
                "batch": batch,
                "tenant": job.tenant,
                "topic": TOPIC,
                "partition": 0,
                "offset": job.id,
                "key": f"{job.tenant}/{job.group}".encode(),
                "original": orjson.dumps({"task": job.task, "group": job.group, "arguments": job.arguments}),
                "errors": Jsonb([problem.as_dict()]),
            }
            self._connection.execute(query("reactions/dead_letter"), letter)

    def state(self) -> tuple[int, float]:
        """How many jobs wait, and for how many seconds the oldest of those that could run has."""
        count, seconds = self._connection.execute(query("jobs/state")).fetchone() or (0, 0.0)
        return count, max(seconds, 0.0)


def _storable(text: str) -> str:
    """An error may quote anything; PostgreSQL takes neither NUL nor a lone surrogate."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")[:1_000]
