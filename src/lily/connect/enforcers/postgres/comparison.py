"""What the comparison of a target with its decisions results in."""

from dataclasses import dataclass, field

from lily.plugins import Finding, Step
from lily.plugins.enforcers import Path


@dataclass(slots=True)
class Comparison:
    """`deviations`: table, what was found, what was expected."""

    steps: list[Step] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    deviations: list[tuple[Path, str, str]] = field(default_factory=list)
