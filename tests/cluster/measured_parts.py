"""What each part of a pipeline on a cluster spends, and how fast it is through a backlog."""

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]
import psycopg

from bench.events import Payloads, asset, producer, send
from bench.stack import cpu_seconds_of
from lily.app import log_ends
from lily.bus.topics import ASSETS
from tests.cluster.processes import Program
from tests.cluster.spark_cluster import Cluster, wait_until
from tests.faults.own_stack import OwnStack

MICROSECONDS = 1e6
PATIENCE_SECONDS = 120.0
STACK_PARTS = ("kafka", "postgres", "worker")
TASKS = "lily.pipeline.python_daemon"  # the module of the Python processes that run tasks

Cost = dict[str, float]


class Passed(NamedTuple):
    """One backlog: events per second, and microseconds of processor time per event by part."""

    rate: float
    cost: Cost


class Pipeline(NamedTuple):
    stack: OwnStack
    cluster: Cluster
    driver: Program

    def pass_through(self, events: int) -> Passed:
        """States so many assets anew while the driver stands still, and lets it go."""
        log, payloads = producer(self.stack.kafka.client), Payloads(map(asset, range(events)))
        with frozen(self.driver):
            send(log, payloads, events)
            assert log.flush(60) == 0
            ends = log_ends(self.stack.kafka.settings(), [ASSETS])
            before, began = self._seconds(), time.monotonic()
        wait_until(lambda: self._reached(ends), self.driver.last_words, PATIENCE_SECONDS)
        seconds = time.monotonic() - began
        wait_until(self._is_published, self.driver.last_words, PATIENCE_SECONDS)
        after = self._seconds()
        return Passed(events / seconds, {part: (after[part] - before[part]) * MICROSECONDS / events for part in after})

    def task_seconds(self) -> list[float]:
        """The processor time that tasks have spent on each worker."""
        return [cpu_seconds_of(list(_tasks(worker))) for worker in self.cluster.workers]

    def _reached(self, ends: Mapping[tuple[str, int], int]) -> bool:
        with psycopg.connect(self.stack.database) as connection:
            query = "select partition, next_offset from applied where topic = %s"
            applied: dict[int, int] = dict(connection.execute(query, [ASSETS]).fetchall())
        return all(applied.get(partition, 0) >= end for (_, partition), end in ends.items())

    def _is_published(self) -> bool:
        with psycopg.connect(self.stack.database) as connection:
            return not connection.execute("select 1 from batches where published_at is null limit 1").fetchone()

    def _seconds(self) -> Cost:
        parts = {part: cpu_seconds_of(_tree(self.stack, part)) for part in STACK_PARTS}
        executors = [process for worker in self.cluster.workers for process in worker.members()]
        return {"driver": cpu_seconds_of(self.driver.members()), "executors": cpu_seconds_of(executors), **parts}


@contextmanager
def frozen(program: Program) -> Iterator[None]:
    members = program.members()
    try:
        _signal(members, signal.SIGSTOP)
        yield
    finally:
        _signal(members, signal.SIGCONT)


def _signal(members: Sequence[psutil.Process], number: signal.Signals) -> None:
    for process in members:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def _tree(stack: OwnStack, part: str) -> list[psutil.Process]:
    process = stack.part(part).running.process()
    assert process is not None
    return [process, *process.children(recursive=True)]


def _tasks(worker: Program) -> Iterator[psutil.Process]:
    for process in worker.members():
        with suppress(psutil.NoSuchProcess):
            if TASKS in process.cmdline():
                yield process
