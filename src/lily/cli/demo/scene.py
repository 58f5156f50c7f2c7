"""What the steps of the demo share: the client, a stopwatch, and a way to insist."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lily.client import Lily
from lily.model.errors import Terminal

T = TypeVar("T")


class StepFailed(Terminal):
    """The stack answered otherwise than it should have."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a step has to say, and how long the one thing took that it is about."""

    sentence: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Scene:
    lily: Lily
    lag: Callable[[], dict[str, int] | None]  # by topic, how many events cannot be read yet; None if nobody answers
    shows_progress: bool = False
    measured: dict[str, list[float]] = field(default_factory=dict)

    def timed(self, kind: str, act: Callable[[], T]) -> tuple[T, float]:
        """The result and the seconds it took; they also go into the summary, under the kind."""
        began = time.perf_counter()
        result = act()
        seconds = time.perf_counter() - began
        self.measured.setdefault(kind, []).append(seconds)
        return result, seconds


@dataclass(frozen=True, slots=True)
class Step:
    """A chapter of the story. Raises LilyError if its result is not what it should be."""

    name: str
    play: Callable[[Scene], Told]


@dataclass(slots=True)
class Report:
    """What `--format json` answers."""

    start_seconds: float
    steps: list[dict[str, Any]] = field(default_factory=list)
    ok: bool = True

    def passed(self, step: Step, told: Told) -> None:
        self.steps.append({"name": step.name, "ok": True, "seconds": round(told.seconds, 6)})

    def failed(self, step: Step, reason: str) -> None:
        self.steps.append({"name": step.name, "ok": False, "error": reason})
        self.ok = False

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "start_seconds": round(self.start_seconds, 3), "steps": self.steps}


def insist(*, that: bool, otherwise: str) -> None:
    if not that:
        raise StepFailed(otherwise)


def expect_equal(what: str, found: object, expected: object) -> None:
    insist(that=found == expected, otherwise=f"{what} is {found!r} and should be {expected!r}")
