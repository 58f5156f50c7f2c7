"""The life of one part, with real processes and a clock that the test moves."""

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
from lily.embedded.supervised import SICK, SLOW, Supervised
from lily.model.errors import Terminal, Transient


@dataclass
class Shell:
    """A part that runs a line of shell."""

    line: str
    well: bool = True
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
        return self.well


class Life:
    """Steps a part while its clock stands still, unless moved."""

    def __init__(self, part: Shell, logs: Path, pool: ThreadPoolExecutor) -> None:
        self.part, self.now = part, 1_000.0
        self.it = Supervised(part, PartState(name=part.name), logs, pool)
        self.it.start(self.now)

    def until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not reached():
            assert time.monotonic() < deadline, self.it.record
            self.it.step(self.now)
            time.sleep(0.005)

    def until_state(self, state: str) -> None:
        self.until(lambda: self.it.record.state == state)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Callable[[Shell], Life]]:
    lives: list[Life] = []
    with ThreadPoolExecutor(2) as pool:

        def begin(part: Shell) -> Life:
            lives.append(Life(part, tmp_path / "logs", pool))
            return lives[-1]

        yield begin
        for life in lives:
            life.it.stop(life.now, grace=0.0)
            life.until(lambda life=life: life.it.stopped)  # type: ignore[misc]


def test_a_part_becomes_healthy_and_its_output_is_in_its_log(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("echo hello; exec sleep 60"))
    life.until_state("healthy")
    life.until(lambda: "hello" in life.it.log.read_text())
    assert life.it.record.running.process() is not None


def test_a_part_that_ends_is_started_again_after_ever_longer_pauses(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("exit 3", well=False))
    for pause in (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0):
        life.until_state("restarting")
        assert life.it.record.detail == "ended with code 3"
        starts = len(life.part.prepared)
        life.now += pause - 0.01
        life.it.step(life.now)
        assert len(life.part.prepared) == starts
        life.now += 0.02
        life.until(lambda starts=starts: len(life.part.prepared) > starts)  # type: ignore[misc]
    assert life.it.record.restarts == 7


def test_a_minute_of_health_forgives_earlier_failures(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("exec sleep 60"))
    life.until_state("healthy")
    psutil.Process(life.it.record.running.pid).kill()
    life.until_state("restarting")
    life.now += 1
    life.until_state("healthy")
    assert life.it.failures == 1
    life.now += 61
    life.until(lambda: life.it.failures == 0)


def test_a_part_that_lives_but_does_not_answer_is_replaced(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("exec sleep 60"))
    life.until_state("healthy")
    first = life.it.record.running.pid
    life.part.well = False
    life.now += 5
    life.until_state("unhealthy")
    assert life.it.record.running.pid == first
    life.now += SICK
    life.until_state("restarting")
    life.part.well = True
    life.now += 5
    life.until_state("healthy")
    assert life.it.record.running.pid != first


def test_a_slow_start_is_given_more_time_than_a_sickness(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("exec sleep 60", well=False))
    life.until(lambda: life.it.record.running.pid != 0)
    life.now += SICK + 1
    for _ in range(20):
        life.it.step(life.now)
        time.sleep(0.005)
    assert (life.it.record.state, life.it.record.detail) == ("starting", "")
    life.now += SLOW
    life.until_state("restarting")


def test_a_part_that_ignores_its_stop_signal_is_killed_once_the_grace_is_over(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("trap '' TERM; echo ready; while :; do sleep 0.1; done"))
    life.until(lambda: life.it.log.exists() and "ready" in life.it.log.read_text())
    life.it.stop(life.now)
    life.now += life.part.grace - 0.1
    life.it.step(life.now)
    assert life.it.record.state == "stopping"
    life.now += 0.2
    life.until_state("stopped")


def test_what_a_dead_part_had_started_does_not_survive_it(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("sleep 60 & echo $!; wait"))
    life.until(lambda: life.it.log.exists() and life.it.log.read_text().strip() != "")
    child = psutil.Process(int(life.it.log.read_text()))
    psutil.Process(life.it.record.running.pid).kill()
    life.until_state("restarting")
    psutil.wait_procs([child], timeout=10)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_transient_failure_in_preparing_is_tried_again(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("exec sleep 60", failure=Transient("not yet")))
    life.until_state("restarting")
    assert life.it.failures == 1
    life.part.failure = None
    life.now += 1
    life.until_state("healthy")


def test_a_terminal_failure_in_preparing_is_hopeless_at_once(live: Callable[[Shell], Life]) -> None:
    life = live(Shell("exec sleep 60", failure=Terminal("never")))
    life.until_state("restarting")
    assert life.it.failures == 3
    assert life.it.record.detail == "never"
