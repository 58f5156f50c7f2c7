"""The states and severities of an incident, each in its order."""

from collections.abc import Iterable
from typing import Final, Literal

State = Literal["open", "acknowledged", "resolved"]
Severity = Literal["info", "warning", "critical"]

STATES: Final[tuple[State, ...]] = ("open", "acknowledged", "resolved")
SEVERITIES: Final[tuple[Severity, ...]] = ("info", "warning", "critical")
DEFAULT_SEVERITY: Final[Severity] = "warning"  # of an incident whose source states none


def furthest(states: Iterable[State | None]) -> State:
    """The furthest of the states that were stated. A message without a state opens an incident that is not known."""
    return max((state for state in states if state is not None), key=STATES.index, default="open")
