"""What is asked of a deployment, and reading its numbers as people write them."""

import math
from dataclasses import dataclass

from lily.model.errors import Terminal

MOST = 1e15  # beyond it, somebody has mistyped an exponent


class BadDemand(Terminal):
    """A number that no deployment can have."""


@dataclass(frozen=True, slots=True)
class Demand:
    """`reads` a second; None stands for the measured file's reads per event."""

    assets: float
    events: float
    tenants: float
    reads: float | None = None
    utilisation: float = 0.6

    def __post_init__(self) -> None:
        _check("assets", self.assets, whole=True)
        _check("events", self.events)
        _check("tenants", self.tenants, whole=True)
        if self.reads is not None:
            _check("reads", self.reads)
        if not 0 < self.utilisation <= 1:
            raise BadDemand(
                f"The utilisation is {self.utilisation:g}; it is the share of a processor to plan with, above 0 and at "
                "most 1. Write 0.6 for 60 %."
            )
        if self.tenants > self.assets:
            raise BadDemand(f"{self.tenants:,.0f} tenants cannot share {self.assets:,.0f} assets. Name fewer tenants.")


def read_number(option: str, text: str, example: str) -> float:
    """A number of the command line: 1e9, 1_000_000_000 or 1000000000."""
    try:
        return float(text)
    except ValueError as error:
        raise BadDemand(
            f"{option} is {text!r}, which is not a number. Write it plainly, such as {example}; digits may be grouped "
            "with _ but not with commas or blanks."
        ) from error


def _check(name: str, value: float, *, whole: bool = False) -> None:
    if not math.isfinite(value) or value <= 0:
        raise BadDemand(f"{name} is {value:g}; it has to be a number above zero, such as 1000 or 1e6.")
    if value > MOST:
        raise BadDemand(f"{name} is {value:g}, more than {MOST:g}. Check the exponent.")
    if whole and value != int(value):
        raise BadDemand(f"{name} is {value:g}; it has to be a whole number.")
