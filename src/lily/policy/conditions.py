"""Conditions of a policy: time, weekdays, networks, purposes and attributes, each of which must hold.

A condition is true, false, or unknown (None) if its input is missing. Unknown fails closed: an allow does not apply,
any other effect does.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import TYPE_CHECKING, Any, Protocol
from zoneinfo import ZoneInfo

from lily.policy.names import fold

if TYPE_CHECKING:  # requests.py needs the policies, whose conditions are defined here
    from lily.policy.requests import Context, Facts, Principal

_NOT_EVALUATED = object()
MAX_RESULTS = 4096  # kept with a context; a context that is shared for long must not grow
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Circumstance(Protocol):
    """A condition on the context alone."""

    @property
    def name(self) -> str:
        """The field of the policy that states it."""

    def holds(self, context: "Context") -> bool | None:
        """None if the context lacks what is compared. Never raises."""


@dataclass(frozen=True, slots=True)
class DailyWindow:
    """From `start` (included) to `end` (excluded) on the clocks of a zone; over midnight if `end` is the earlier."""

    start: time
    end: time
    zone: ZoneInfo
    name: str = "time"

    def holds(self, context: "Context") -> bool | None:
        if context.now is None:
            return None
        moment = context.now.astimezone(self.zone).time()
        if self.start < self.end:
            return self.start <= moment < self.end
        return moment >= self.start or moment < self.end


@dataclass(frozen=True, slots=True)
class Period:
    """From `not_before` (included) to `not_after` (excluded); None is unlimited."""

    not_before: datetime | None
    not_after: datetime | None
    name: str = "time"

    def holds(self, context: "Context") -> bool | None:
        if context.now is None:
            return None
        began = self.not_before is None or context.now >= self.not_before
        return began and (self.not_after is None or context.now < self.not_after)


@dataclass(frozen=True, slots=True)
class Weekdays:
    """Days of the week in a zone; Monday is 0. What counts is the day of the moment, also after midnight."""

    days: frozenset[int]
    zone: ZoneInfo
    name: str = "weekdays"

    def holds(self, context: "Context") -> bool | None:
        return None if context.now is None else context.now.astimezone(self.zone).weekday() in self.days


@dataclass(frozen=True, slots=True)
class Networks:
    networks: tuple[Network, ...]
    name: str = "networks"

    def holds(self, context: "Context") -> bool | None:
        if context.ip is None:
            return None
        return any(context.ip in network for network in self.networks)


@dataclass(frozen=True, slots=True)
class Purposes:
    purposes: frozenset[str]
    name: str = "purpose"

    def holds(self, context: "Context") -> bool | None:
        return None if context.purpose is None else fold(context.purpose) in self.purposes


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """`asset` and `principal` hold, by attribute, the values of which one must be equal. `stated` is the JSON."""

    stated: Mapping[str, Any]
    circumstances: tuple[Circumstance, ...] = ()
    asset: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    principal: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def depends_on_time(self) -> bool:
        """Whether the same question may have another outcome later."""
        return any(not isinstance(circumstance, Networks | Purposes) for circumstance in self.circumstances)

    def outcome(self, principal: "Principal", facts: "Facts", context: "Context") -> bool | None:
        """Whether all hold; false if one does not, whatever is unknown."""
        here = self._outcome_of_context(context)
        if here is False or not (self.asset or self.principal):
            return here
        return all_of((here, self.principal_outcome(principal), self.asset_outcome(facts)))

    def outcome_without_asset(self, principal: "Principal", context: "Context") -> bool | None:
        """The outcome of the conditions on context and principal alone."""
        return all_of((self._outcome_of_context(context), self.principal_outcome(principal)))

    def _outcome_of_context(self, context: "Context") -> bool | None:
        known: bool | None = context.results.get(self, _NOT_EVALUATED)
        if known is not _NOT_EVALUATED:
            return known
        outcome = all_of(circumstance.holds(context) for circumstance in self.circumstances)
        if len(context.results) >= MAX_RESULTS:
            context.results.clear()
        context.results[self] = outcome
        return outcome

    def asset_outcome(self, facts: "Facts") -> bool | None:
        """The catalogue knows the asset: an attribute that it does not have is not equal. Unknown if not loaded."""
        known = facts.attributes
        if known is None:
            return None if self.asset else True
        return all(_equals(known.get(name), values) for name, values in self.asset.items())

    def principal_outcome(self, principal: "Principal") -> bool | None:
        """A token may lack a claim that the user has: an attribute that is missing is unknown."""
        known = principal.attributes
        result: bool | None = True
        for name, values in self.principal.items():
            value = known.get(name)
            if value is None:
                result = None
            elif not _equals(value, values):
                return False
        return result


NO_CONDITIONS = Conditions({})


def all_of(outcomes: Iterable[bool | None]) -> bool | None:
    """False if one is, else unknown if one is, else true."""
    result: bool | None = True
    for outcome in outcomes:
        if outcome is False:
            return False
        if outcome is None:
            result = None
    return result


def _equals(value: Any, stated: tuple[Any, ...]) -> bool:
    """Whether a value, or an item of a list, is one of the stated. In Python `1 == True`; in JSON it is not."""
    if isinstance(value, str):
        return value in stated
    items = value if isinstance(value, list | tuple) else (value,)
    return any(
        item == wanted and isinstance(item, bool) == isinstance(wanted, bool) for item in items for wanted in stated
    )
