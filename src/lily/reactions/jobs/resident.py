"""The resident `jobs` of the worker: runs queued jobs, and queues what recurs."""

import threading
import time
from collections.abc import Sequence

import psycopg
import structlog
from prometheus_client import CollectorRegistry
from psycopg import Connection

from lily.reactions.jobs.base import Task
from lily.reactions.jobs.housekeeping import housekeeping
from lily.reactions.jobs.metrics import JobMetrics
from lily.reactions.jobs.rota import Rota
from lily.reactions.jobs.slot import RECONNECT_SECONDS, Slot
from lily.reactions.threads import ThreadGroup
from lily.settings import Settings
from lily.store.postgres.connection import connect
from lily.store.postgres.jobs.queue import CHANNEL, JobQueue
from lily.store.postgres.jobs.schedules import Schedule, Schedules

HEAR_SECONDS = 1.0  # how long it listens before it looks whether it should stop
SCHEDULE_SECONDS = 10.0  # a schedule that another process has added is noticed after that
LOCKED_SECONDS = 0.5  # so long a schedule that is due and locked is left to who holds it
STATE_SECONDS = 10.0  # how old the metrics of the whole queue may be

_log = structlog.get_logger()


class Jobs:
    """Several workers may run it: a group of jobs is served by one of them at a time. A job in hand is finished before
    `run` returns; a job whose worker was killed is run again by another one within seconds."""

    name = "jobs"

    def __init__(
        self,
        settings: Settings,
        stop: threading.Event,
        registry: CollectorRegistry,
        tasks: Sequence[Task] | None = None,
    ) -> None:
        """Without `tasks` it runs Lily's own."""
        tasks = housekeeping(settings.retention, registry) if tasks is None else tasks
        self._settings, self._stop = settings, stop
        self.ready = threading.Event()
        self._metrics = JobMetrics(registry)
        for task in tasks:
            self._metrics.register(task.name)
        by_name = {task.name: task for task in tasks}
        concurrency = settings.jobs.concurrency
        # Half of the slots stay free for other tenants, however slow the jobs of one are.
        self._rota = Rota(by_name, share=max(1, concurrency // 2))
        self._recurring = [Schedule(task.name, task.name, task.every, {}) for task in tasks if task.every]
        self._slots = [
            Slot(settings.database_url, by_name, self._rota, stop, self._metrics) for _ in range(concurrency)
        ]

    def run(self) -> None:
        """Returns when `stop` is set and the jobs in hand are finished. Raises what ended a slot."""
        threads = ThreadGroup(self._stop)
        for number, slot in enumerate(self._slots):
            threads.start(f"jobs-{number}", slot.run)
        self._keep_serving()
        self._rota.wake()
        threads.join()

    def _keep_serving(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                with connect(self._settings.database_url, "lily-jobs-clock") as connection:
                    self._serve(connection)
            except psycopg.OperationalError as error:
                failures = 0 if self.ready.is_set() else failures + 1
                self.ready.clear()
                _log.warning("jobs clock interrupted, connecting again", error=str(error)[:500])
                self._stop.wait(RECONNECT_SECONDS[min(failures, len(RECONNECT_SECONDS) - 1)])

    def _serve(self, connection: Connection[tuple[object, ...]]) -> None:
        connection.execute(f"listen {CHANNEL}".encode())
        schedules, queue = Schedules(connection), JobQueue(connection)
        for schedule in self._recurring:
            schedules.register(schedule)
        self.ready.set()
        self._rota.wake()  # what was queued before it listened
        scheduled = measured = 0.0
        while not self._stop.is_set():
            now = time.monotonic()
            if now >= scheduled:
                scheduled = now + self._enqueue_due(schedules)
            if now >= measured:
                self._measure(queue)
                measured = now + STATE_SECONDS
            for _ in connection.notifies(timeout=min(HEAR_SECONDS, max(0.0, scheduled - now)), stop_after=1):
                self._rota.wake()

    def _enqueue_due(self, schedules: Schedules) -> float:
        """Queues what is due; returns after how many seconds to look again."""
        if schedules.enqueue_due():
            self._rota.wake()
        seconds = schedules.seconds_to_next()
        if seconds is None:
            return SCHEDULE_SECONDS
        return min(SCHEDULE_SECONDS, seconds) if seconds > 0 else LOCKED_SECONDS

    def _measure(self, queue: JobQueue) -> None:
        waiting, oldest = queue.state()
        self._metrics.waiting.set(waiting)
        self._metrics.oldest.set(oldest)
