"""The port of a task: what a queued job does."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import Connection

from lily.store.postgres.jobs.queue import Job, Later


@dataclass(frozen=True, slots=True)
class Retry:
    """The pauses between attempts grow by `factor` up to `longest` seconds; after `attempts` the job has failed. As
    they are here, the last attempt comes about an hour after the first."""

    first: float = 1.0
    factor: float = 2.0
    longest: float = 300.0
    attempts: int = 20

    def pause_after(self, failures: int) -> float | None:
        """Seconds until the next attempt; None if there is none."""
        if failures >= self.attempts:
            return None
        return float(min(self.longest, self.first * self.factor ** min(failures - 1, 60)))


@dataclass(frozen=True, slots=True)
class Task:
    """What a job does, by the name under which it is queued. `run` is called with a connection in a transaction, which
    also removes the job: what it writes there happens exactly once. What it does elsewhere happens at least once, so
    let the receiver drop repeats by `job.id`. It must bound every wait of its own, such as the time for a request.
    A `run` that returns `Later` commits what it wrote and is called again; that does not count as a failure.

    What happens when `run` raises; in each case the transaction is rolled back:

    * `Transient`, or an error of PostgreSQL that another attempt may not meet: the job is retried as `retry` says.
      Until then the jobs behind it in its group wait too; no other group does.
    * A lost connection, or the end of the process: the job is run again, by any worker. A job whose process has ended
      several times becomes a dead letter, so that it cannot take the worker down for ever.
    * Anything else, or the last attempt: the job becomes a dead letter with the cause, and its group goes on.
      `POST /dead-letters/replay` queues it again.
    """

    name: str
    run: Callable[[Connection[Any], Job], Later | None]
    retry: Retry = Retry()
    every: timedelta | None = None  # queued so often by the worker itself, as a job of no tenant
