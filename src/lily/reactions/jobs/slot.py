"""A slot of the worker: runs jobs one after the other, a few of one group and then of the next."""

import threading
import time
from collections.abc import Mapping
from typing import Any

import psycopg
import structlog
from psycopg import Connection

from lily.model.errors import Problem, Terminal, Transient
from lily.reactions.failures import shown_cause
from lily.reactions.jobs.base import Task
from lily.reactions.jobs.metrics import JobMetrics
from lily.reactions.jobs.rota import Rota
from lily.store.postgres.connection import connect
from lily.store.postgres.jobs.queue import Group, Job, JobQueue, Taken

TURN_JOBS = 50  # of one group before the next one has its turn
TURN_SECONDS = 0.5  # or for so long
STARTS = 5  # so often a process may end while it runs a job
IDLE_SECONDS = 1.0  # a stop is noticed after that
RECONNECT_SECONDS = (0.5, 1, 2, 5, 10)

_log = structlog.get_logger()


class Slot:
    """One thread with one connection. It reconnects by itself."""

    def __init__(
        self, database_url: str, tasks: Mapping[str, Task], rota: Rota, stop: threading.Event, metrics: JobMetrics
    ) -> None:
        self._database_url, self._tasks, self._rota, self._stop = database_url, tasks, rota, stop
        self._metrics = metrics

    def run(self) -> None:
        """Returns when `stop` is set, after the job in hand."""
        failures = 0
        while not self._stop.is_set():
            try:
                with connect(self._database_url, "lily-jobs") as connection:
                    failures = 0
                    self._serve(connection)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                _log.warning("jobs interrupted, connecting again", error=str(error)[:500])
                self._stop.wait(RECONNECT_SECONDS[min(failures, len(RECONNECT_SECONDS) - 1)])
                failures += 1

    def _serve(self, connection: Connection[Any]) -> None:
        queue = JobQueue(connection)
        runner = _JobRunner(connection, queue, self._tasks, self._metrics)
        while not self._stop.is_set():
            group = self._rota.take(queue)
            if group is None:
                self._rota.wait(IDLE_SECONDS)
                continue
            served = True
            try:
                served = self._turn(queue, runner, group)
            finally:
                self._rota.give_back(group, served=served)

    def _turn(self, queue: JobQueue, runner: "_JobRunner", group: Group) -> bool:
        """Runs jobs of a group; returns False if another worker holds it."""
        with queue.locked(group) as mine:
            if not mine:
                return False
            jobs = queue.first(group, self._tasks, TURN_JOBS)
            if jobs:
                queue.count_start(jobs[0])
            until = time.monotonic() + TURN_SECONDS
            for job in jobs:
                if not runner.run(job) or self._stop.is_set() or time.monotonic() > until:
                    break
        return True


class _JobRunner:
    """Runs single jobs on one connection and records what becomes of them."""

    def __init__(
        self, connection: Connection[Any], queue: JobQueue, tasks: Mapping[str, Task], metrics: JobMetrics
    ) -> None:
        self._connection, self._queue, self._tasks, self._metrics = connection, queue, tasks, metrics

    def run(self, job: Job) -> bool:
        """Returns whether the group may go on with its next job."""
        began = time.monotonic()
        try:
            outcome = self._attempt(job)
        except Taken as error:
            _log.warning("job taken", task=job.task, job=job.id, tenant=job.tenant, error=str(error))
            return True
        self._metrics.attempted(job.task, outcome, time.monotonic() - began)
        return outcome in {"done", "failed"}

    def _attempt(self, job: Job) -> str:
        if job.starts >= STARTS:
            return self._fail(job, Terminal(f"the worker ended {job.starts} times while it ran this job"))
        try:
            with self._connection.transaction():
                later = self._tasks[job.task].run(self._connection, job)
                if later is not None:
                    self._queue.wait(job, later.seconds, later.reason)
                    return "waits"
                self._queue.finish(job)
        except Taken:
            raise
        except Transient as error:
            return self._retry(job, error)
        except psycopg.OperationalError as error:
            if self._connection.closed:
                raise
            return self._retry(job, error)
        except Exception as error:
            if self._connection.closed:
                raise
            return self._fail(job, error)
        return "done"

    def _retry(self, job: Job, error: Exception) -> str:
        pause = self._tasks[job.task].retry.pause_after(job.attempts + 1)
        if pause is None:
            return self._fail(job, error, f"gave up after {job.attempts + 1} attempts: ")
        self._queue.postpone(job, pause, str(error))
        _log.warning(
            "job postponed", task=job.task, job=job.id, tenant=job.tenant, seconds=pause, error=str(error)[:500]
        )
        return "retried"

    def _fail(self, job: Job, error: Exception, before: str = "") -> str:
        cause, correlation = shown_cause(error)
        self._queue.dead_letter(job, Problem("JOB_FAILED", f"{job.task}: {before}{cause}", job.group))
        _log.error(
            "job dead-lettered",
            task=job.task,
            job=job.id,
            tenant=job.tenant,
            error=f"{before}{error!r}"[:500],
            correlation=correlation,
        )
        return "failed"
