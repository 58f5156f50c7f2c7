"""The life of one part, with real processes and a clock that the test controls."""

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from lily.embedded.process import Command
from lily.embedded.state import PartState
from lily.embedded.supervision.supervised_part import START_TIMEOUT, UNHEALTHY_TIMEOUT, SupervisedPart
from lily.model.errors import Terminal, Transient


@dataclass
class Shell:
    """A part that runs a shell command."""

    line: str
    is_healthy: bool = True
    failure: Exception | None = None
    prepared: list[bool] = field(default_factory=list)
    name: str = "shell"
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 5.0

    def prepare(self) -> None:
        self.prepared.append(True)
        if self.failure:
            raise self.failure

    def command(self) -> Command:
        return Command(("/bin/sh", "-c", self.line))

    def healthy(self) -> bool:
        return self.is_healthy


class PartDriver:
    """Steps a part. Its clock stands still unless the test advances it."""

    def __init__(self, part: Shell, logs: Path, pool: ThreadPoolExecutor) -> None:
        self.part, self.now = part, 1_000.0
        self.supervised = SupervisedPart(part, PartState(name=part.name), logs, pool)
        self.supervised.start(self.now)

    def until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not reached():
            assert time.monotonic() < deadline, self.supervised.record
            self.supervised.step(self.now)
            time.sleep(0.005)

    def until_state(self, state: str) -> None:
        self.until(lambda: self.supervised.record.state == state)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[Shell], PartDriver]]:
    drivers: list[PartDriver] = []
    with ThreadPoolExecutor(2) as pool:

        def begin(part: Shell) -> PartDriver:
            drivers.append(PartDriver(part, tmp_path / "logs", pool))
            return drivers[-1]

        yield begin
        for driver in drivers:
            driver.supervised.stop(driver.now, grace=0.0)
            driver.until(lambda driver=driver: driver.supervised.stopped)  # type: ignore[misc]


def test_a_part_becomes_healthy_and_its_output_is_in_its_log(start: Callable[[Shell], PartDriver]) -> None:
    driver = start(Shell("echo hello; exec sleep 60"))
    driver.until_state("healthy")
    driver.until(lambda: "hello" in driver.supervised.log.read_text())
    assert driver.supervised.record.running.process() is not None


def test_a_part_that_exits_is_restarted_with_growing_pauses(start: Callable[[Shell], PartDriver]) -> None:
    driver = start(Shell("exit 3", is_healthy=False))
    for pause in (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0):
        driver.until_state("restarting")
        assert driver.supervised.record.detail == "exited with code 3"
        starts = len(driver.part.prepared)
        driver.now += pause - 0.01
        driver.supervised.step(driver.now)
        assert driver.supervised.record.state == "restarting"  # known at once; a thread counts `prepared`, later
        driver.now += 0.02
        driver.until(lambda starts=starts: len(driver.part.prepared) > starts)  # type: ignore[misc]
    assert driver.supervised.record.restarts == 7


def test_earlier_failures_are_forgotten_after_a_minute_of_health(start: Callable[[Shell], PartDriver]) -> None:
    driver = start(Shell("exec sleep 60"))
    driver.until_state("healthy")
    psutil.Process(driver.supervised.record.running.pid).kill()
    driver.until_state("restarting")
    driver.now += 1
    driver.until_state("healthy")
    assert driver.supervised.failures == 1
    driver.now += 61
    driver.until(lambda: driver.supervised.failures == 0)


def test_a_running_part_that_fails_its_probes_is_replaced(start: Callable[[Shell], PartDriver]) -> None:
    driver = start(Shell("exec sleep 60"))
    driver.until_state("healthy")
    first = driver.supervised.record.running.pid
    driver.part.is_healthy = False
    driver.now += 5
    driver.until_state("unhealthy")
    assert driver.supervised.record.running.pid == first
    driver.now += UNHEALTHY_TIMEOUT
    driver.until_state("restarting")
    driver.part.is_healthy = True
    driver.now += 5
    driver.until_state("healthy")
    assert driver.supervised.record.running.pid != first


def test_a_slow_start_gets_more_time_than_an_unhealthy_part(start: Callable[[Shell], PartDriver]) -> None:
    driver = start(Shell("exec sleep 60", is_healthy=False))
    driver.until(lambda: driver.supervised.record.running.pid != 0)
    driver.now += UNHEALTHY_TIMEOUT + 1
    for _ in range(20):
        driver.supervised.step(driver.now)
        time.sleep(0.005)
    assert (driver.supervised.record.state, driver.supervised.record.detail) == ("starting", "")
    driver.now += START_TIMEOUT
    driver.until_state("restarting")


def test_a_part_that_ignores_its_stop_signal_is_killed_once_the_grace_is_over(
    start: Callable[[Shell], PartDriver],
) -> None:
    driver = start(Shell("trap '' TERM; echo ready; while :; do sleep 0.1; done"))
    driver.until(lambda: driver.supervised.log.exists() and "ready" in driver.supervised.log.read_text())
    driver.supervised.stop(driver.now)
    driver.now += driver.part.grace - 0.1
    driver.supervised.step(driver.now)
    assert driver.supervised.record.state == "stopping"
    driver.now += 0.2
    driver.until_state("stopped")


def test_the_children_of_a_dead_part_do_not_survive_it(start: Callable[[Shell], PartDriver]) -> None:
    driver = start(Shell("sleep 60 & echo $!; wait"))
    driver.until(lambda: driver.supervised.log.exists() and driver.supervised.log.read_text().strip() != "")
    child = psutil.Process(int(driver.supervised.log.read_text()))
    psutil.Process(driver.supervised.record.running.pid).kill()
    driver.until_state("restarting")
    psutil.wait_procs([child], timeout=10)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_transient_failure_of_the_preparation_is_retried(start: Callable[[Shell], PartDriver]) -> None:
    driver = start(Shell("exec sleep 60", failure=Transient("not yet")))
    driver.until_state("restarting")
    assert driver.supervised.failures == 1
    driver.part.failure = None
    driver.now += 1
    driver.until_state("healthy")


def test_a_terminal_failure_of_the_preparation_reaches_the_limit_at_once(start: Callable[[Shell], PartDriver]) -> None:
    driver = start(Shell("exec sleep 60", failure=Terminal("never")))
    driver.until_state("restarting")
    assert driver.supervised.failures == 3
    assert driver.supervised.record.detail == "never"
