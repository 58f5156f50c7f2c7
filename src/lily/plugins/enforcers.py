"""The port `lily.enforcers`: brings one target in line with Lily's decisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from pydantic import BaseModel

Effect = Literal["allow", "deny", "mask", "row-filter"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What one principal may do with one asset. `mask` and `row_filter` hold the expression of those effects."""

    asset: str  # qualified name
    principal: str
    action: str
    effect: Effect
    mask: str = ""
    row_filter: str = ""
    tags: tuple[str, ...] = ()  # because of which it was decided


class Step(NamedTuple):
    """One change of the target, as a person would read it: a GRANT, a masking view, an API call."""

    asset: str
    change: str


class Plan(NamedTuple):
    """The steps that lead from the target's present state to the decisions, in order. None: it is in line."""

    steps: tuple[Step, ...] = ()


class Drift(NamedTuple):
    """Where the target no longer does what was applied."""

    asset: str
    found: str
    expected: str


class Enforcer(Protocol):
    """One target: a database, a warehouse. Constructed with its validated configuration.

    Raises Transient if a later attempt may succeed (the target does not respond); the call is then repeated with
    backoff. Raises Terminal if something has to change first (a missing privilege). Either way the target is as it
    was before the call, or `plan` finds the rest: no call leaves an asset readable that a decision denies or masks.
    """

    @property
    def Config(self) -> type[BaseModel]:  # noqa: N802 - a class attribute, and a class
        """A class attribute: the model of the configuration. It refuses unknown settings."""
        ...

    def plan(self, decisions: Sequence[Decision]) -> Plan:
        """Compares the target with all decisions for it and returns what has to change. Changes nothing."""
        ...

    def apply(self, plan: Plan) -> None:
        """Carries the plan out. Idempotent: applied twice, the target is the same, and `plan` is then empty."""
        ...

    def verify(self, decisions: Sequence[Decision]) -> Sequence[Drift]:
        """Returns where the target deviates from the decisions, as the target itself shows it. Changes nothing."""
        ...

    def remove(self) -> None:
        """Reverts everything that was ever applied: the target is as it was before the first `apply`."""
        ...

    def close(self) -> None:
        """Closes connections. Always called; idempotent."""
        ...
