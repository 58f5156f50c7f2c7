"""The tenant's settings for decisions, and their defaults."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from lily.policy.candidates import UnknownObjects

DecisionLogging = Literal["off", "sampled", "all"]


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """`unknown_objects`: what engines may do to objects that are not in the catalogue. `decision_log_rate` is the share
    of decisions that `sampled` logs."""

    unknown_objects: UnknownObjects = "closed"
    decision_log: DecisionLogging = "off"
    decision_log_rate: float = 0.01

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> "AccessSettings":
        return cls(**(stored or {}))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def logged_share(self) -> float:
        return {"off": 0.0, "sampled": self.decision_log_rate, "all": 1.0}[self.decision_log]
