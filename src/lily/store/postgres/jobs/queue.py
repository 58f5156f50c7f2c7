"""The queue of jobs in PostgreSQL: adding jobs, and taking them as a worker.

The jobs of a *group* run in order, one at a time across all workers. What a job writes through the worker's connection
commits together with its removal from the queue.
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

CHANNEL = "lily_jobs"  # is notified when jobs are queued
TOPIC = "jobs"  # of dead letters
SYSTEM = ""  # the tenant of Lily's own jobs


class NewJob(NamedTuple):
    """A job to queue. Jobs of one `group`, such as a destination, run in order; the default is the task's own group.
    A job runs as soon as possible but not before `run_at`; a group is ordered by `run_at`."""

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
    attempts: int  # failed attempts before this one
    starts: int  # starts before this one during which the process died
    enqueued_at: datetime


class Later(NamedTuple):
    """What a task returns if its job is not done: it runs again after so many seconds; until then its group waits."""

    seconds: float
    reason: str


class Ready(NamedTuple):
    groups: list[Group]
    next_seconds: float | None  # until another group becomes ready; None if no other group has jobs


class Taken(Transient):
    """Another worker has run the job, or the job was deleted."""


def enqueue(connection: Connection[Any], tenant: str, *jobs: NewJob) -> list[int]:
    """Queues jobs in the caller's transaction, in the given order, and returns their ids. They run once it commits; a
    rollback removes them."""
    values = {
        "tenant": tenant,
        "groups": [job.group or job.task for job in jobs],
        "tasks": [job.task for job in jobs],
        "arguments": [Jsonb(job.arguments) for job in jobs],
        "run_at": [job.run_at for job in jobs],
    }
    return [id_ for id_, _ in connection.execute(query("jobs/enqueue"), values)]


class JobQueue:
    """The queue on one connection of the pipeline's role."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def ready(self, tasks: Collection[str], busy: Collection[Group], limit: int) -> Ready:
        """Groups whose first job can run and has one of the tasks, without the busy ones. Tenants alternate."""
        parameters = {
            "tasks": list(tasks),
            "busy_tenants": [group.tenant for group in busy],
            "busy_groups": [group.name for group in busy],
            "limit": limit,
        }
        rows = self._connection.execute(query("jobs/ready"), parameters).fetchall()
        return Ready([Group(tenant, name) for _, tenant, name in rows if name is not None], rows[0][0])

    @contextmanager
    def locked(self, group: Group) -> Iterator[bool]:
        """Locks the group; yields False if another worker holds it. The lock ends with the connection at the latest."""
        lock = [orjson.dumps([TOPIC, *group]).decode()]
        row = self._connection.execute("select pg_try_advisory_lock(hashtextextended(%s, 0))", lock).fetchone()
        taken = bool(row and row[0])
        try:
            yield taken
        finally:
            if taken and not self._connection.closed:
                self._connection.execute("select pg_advisory_unlock(hashtextextended(%s, 0))", lock)

    def first(self, group: Group, tasks: Collection[str], limit: int) -> list[Job]:
        """The first jobs of a group that can run now, in order. Take the group's lock before: then this does not return
        jobs that the previous holder has finished."""
        parameters = {"tenant": group.tenant, "group": group.name, "limit": limit}
        rows = self._connection.execute(query("jobs/first_of_group"), parameters).fetchall()
        return [Job(*row[:-1]) for row in takewhile(lambda row: row[-1] and row[3] in tasks, rows)]

    def count_start(self, job: Job) -> None:
        """Records the start of a job. An attempt that fails resets the count, so it shows attempts that never ended."""
        self._connection.execute(query("jobs/count_start"), {"tenant": job.tenant, "id": job.id})

    def finish(self, job: Job) -> None:
        """Removes a job. Call it in the transaction of the job's effects. Raises Taken if the job is gone."""
        done = self._connection.execute(query("jobs/finish"), {"tenant": job.tenant, "id": job.id})
        if done.rowcount != 1:
            raise _taken(job)

    def postpone(self, job: Job, seconds: float, reason: str) -> None:
        """Delays the next attempt of the job, and with it the whole group."""
        parameters = {"tenant": job.tenant, "id": job.id, "seconds": seconds, "reason": _storable(reason)}
        self._connection.execute(query("jobs/postpone"), parameters)

    def wait(self, job: Job, seconds: float, reason: str) -> None:
        """Delays the job, and with it the whole group, without counting a failure. Raises Taken if the job is gone."""
        parameters = {"tenant": job.tenant, "id": job.id, "seconds": seconds, "reason": _storable(reason)}
        if self._connection.execute(query("jobs/wait"), parameters).rowcount != 1:
            raise _taken(job)

    def dead_letter(self, job: Job, problem: Problem) -> None:
        """Turns a job into a dead letter with the cause. The group continues with its next job."""
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
        """The number of queued jobs, and for how many seconds the oldest one that could run has waited."""
        count, seconds = self._connection.execute(query("jobs/state")).fetchone() or (0, 0.0)
        return count, max(seconds, 0.0)


def _taken(job: Job) -> Taken:
    return Taken(f"Job {job.id} ({job.task}) is no longer queued; what it did is rolled back.")


def _storable(text: str) -> str:
    """An error may quote any input, but PostgreSQL stores neither NUL nor a lone surrogate."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")[:1_000]
