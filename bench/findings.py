"""How numbers become a verdict: the median of the rounds against the goal, with the spread beside it."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

Verdict = Literal["met", "missed", "reported"]
Round = dict[str, Any]


class BenchError(RuntimeError):
    """A measurement could not be taken; the message says why."""


class Goal(BaseModel):
    """At least or at most so much."""

    relation: Literal["≥", "≤"]
    bound: float

    def met_by(self, value: float) -> bool:
        return value >= self.bound if self.relation == "≥" else value <= self.bound

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:g}"


def at_least(bound: float) -> Goal:
    return Goal(relation="≥", bound=bound)


def at_most(bound: float) -> Goal:
    return Goal(relation="≤", bound=bound)


class Finding(BaseModel):
    """One line of the table. `values` has one number a round; `unit` is empty for a ratio."""

    what: str
    against: str = ""
    goal: Goal | None = None
    unit: str = ""
    values: list[float]
    trend: str = ""  # of values that are looks at a size, in the order of time

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def verdict(self) -> Verdict:
        if self.goal is None:
            return "reported"
        return "met" if self.goal.met_by(self.median) else "missed"

    def shown_goal(self) -> str:
        return f"{self.goal} {self.unit}".strip() if self.goal else ""

    def shown_value(self) -> str:
        """`0.41 (0.38 to 0.44)`; a single round has no spread. Of a size: the first, the last, the largest."""
        if self.trend:
            first, last, most = map(shown, (self.values[0], self.values[-1], max(self.values)))
            return f"{first} → {last} {self.unit}, at most {most}"
        low, middle, high = map(shown, (min(self.values), self.median, max(self.values)))
        spread = f" ({low} to {high})" if len(self.values) > 1 else ""
        return f"{middle} {self.unit}".strip() + spread


@dataclass(frozen=True)
class Outcome:
    """What a measurement found, the raw numbers of every round, and the sizes it was taken with."""

    findings: Sequence[Finding]
    rounds: Sequence[Round]
    sizes: dict[str, float] = field(default_factory=dict)


def column(rounds: Sequence[Round], name: str) -> list[float]:
    return [float(numbers[name]) for numbers in rounds]


def ratios(rounds: Sequence[Round], numerator: str, denominator: str) -> list[float]:
    """The ratio within each round, so that whatever slowed the machine just then slowed both sides."""
    return [numbers[numerator] / numbers[denominator] for numbers in rounds]


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of all do not exceed. Raises BenchError if there are none."""
    if not values:
        raise BenchError("nothing was observed, so there is no percentile")
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * percent / 100), 1) - 1]


def shown(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
