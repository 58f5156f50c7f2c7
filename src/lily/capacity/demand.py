"""The load that a deployment has to carry, and parsing its numbers from the command line."""

import math
from dataclasses import dataclass

from lily.model.errors import Terminal

MAX_VALUE = 1e15  # anything larger is a mistyped exponent


class BadDemand(Terminal):
    """A number that no deployment can have."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The load to plan for. `reads` is per second; None uses the reads per event of the measured figures."""

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
                f"utilisation is {self.utilisation:g}; it is the planned load of a processor, above 0 and at most 1. "
                "Write 0.6 for 60 %."
            )
        if self.tenants > self.assets:
            raise BadDemand(
                f"There are more tenants ({self.tenants:,.0f}) than assets ({self.assets:,.0f}). Use fewer tenants."
            )


def parse_number(option: str, text: str, example: str) -> float:
    """Parses 1e9, 1_000_000_000 or 1000000000. Raises BadDemand for anything else."""
    try:
        return float(text)
    except ValueError as error:
        raise BadDemand(
            f"{option} is {text!r}, which is not a number. Use for example {example}; group digits with _, not with "
            "commas or spaces."
        ) from error


def _check(name: str, value: float, *, whole: bool = False) -> None:
    if not math.isfinite(value) or value <= 0:
        raise BadDemand(f"{name} is {value:g}; it must be a number above zero, for example 1000 or 1e6.")
    if value > MAX_VALUE:
        raise BadDemand(f"{name} is {value:g}, more than {MAX_VALUE:g}. Check the exponent.")
    if whole and value != int(value):
        raise BadDemand(f"{name} is {value:g}; it must be a whole number.")
