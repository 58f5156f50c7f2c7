"""What the steps of the demo share: the client, a timer, and checks."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lily.cli.demo.slack import SlackReceiver
from lily.cli.demo.stack import DemoStack
from lily.client import Lily
from lily.model.errors import Terminal

T = TypeVar("T")
POLL_SECONDS = 0.02


class StepFailed(Terminal):
    """The stack did not behave as it should."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The line that a step prints, and how long the operation it is about took."""

    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DemoContext:
    """The stack, its client, a receiver of messages, the lag and the measurements so far."""

    stack: DemoStack
    lily: Lily
    slack: SlackReceiver
    read_lag: Callable[[], dict[str, int] | None]  # unreadable events by topic; None while an engine does not respond
    shows_progress: bool = False
    measured: dict[str, list[float]] = field(default_factory=dict)
    started: dict[str, float] = field(default_factory=dict)  # what later steps measure from, by `time.perf_counter`

    def timed(self, kind: str, act: Callable[[], T]) -> tuple[T, float]:
        """Returns the result and the seconds it took, which also appear in the summary under `kind`."""
        began = time.perf_counter()
        result = act()
        return result, self._record(kind, time.perf_counter() - began)

    def start(self, name: str) -> None:
        """Starts the clock of `since`."""
        self.started[name] = time.perf_counter()

    def since(self, name: str, kind: str, until: float | None = None) -> float:
        """Returns the seconds from `start` until then, or until now, which also appear in the summary under `kind`."""
        return self._record(kind, (time.perf_counter() if until is None else until) - self.started[name])

    def _record(self, kind: str, seconds: float) -> float:
        self.measured.setdefault(kind, []).append(seconds)
        return seconds


@dataclass(frozen=True, slots=True)
class Step:
    """One use case. `run` raises LilyError if the result is wrong."""

    name: str
    run: Callable[[DemoContext], StepResult]


@dataclass(slots=True)
class DemoReport:
    """The result of `lily demo --format json`."""

    start_seconds: float
    steps: list[dict[str, Any]] = field(default_factory=list)
    ok: bool = True

    def passed(self, step: Step, result: StepResult) -> None:
        self.steps.append({"name": step.name, "ok": True, "seconds": round(result.seconds, 6)})

    def failed(self, step: Step, reason: str) -> None:
        self.steps.append({"name": step.name, "ok": False, "error": reason})
        self.ok = False

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "start_seconds": round(self.start_seconds, 3), "steps": self.steps}


def require(*, that: bool, failure: str) -> None:
    """Raises StepFailed with the message unless the condition holds."""
    if not that:
        raise StepFailed(failure)


def wait_until(reached: Callable[[], bool], failure: str, seconds: float) -> None:
    """Polls. Raises StepFailed with the message after so many seconds."""
    deadline = time.monotonic() + seconds
    while not reached():
        require(that=time.monotonic() < deadline, failure=f"{failure} within {seconds:.0f} seconds")
        time.sleep(POLL_SECONDS)


def expect_equal(what: str, found: object, expected: object) -> None:
    require(that=found == expected, failure=f"{what} is {found!r} and should be {expected!r}")
