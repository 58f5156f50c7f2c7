"""An incident as the merge of what was stated about it.

`merge` is commutative, associative and idempotent: the state is the furthest, times are the smallest, sets are united,
and of two values of a field the one with the greater (rank, value) wins. So order, repetition and delay of messages do
not matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lily.incidents.statements import FIELDS, IncidentStatement
from lily.incidents.states import DEFAULT_SEVERITY, SEVERITIES, STATES, State, furthest

Field = tuple[int, str]  # the rank of who stated it, and the value


@dataclass(frozen=True, slots=True)
class Incident:
    """Times are in fixed width, so that their text order is their order."""

    source: str
    external_id: str
    state: State
    opened_at: str
    acknowledged_at: str | None = None
    resolved_at: str | None = None
    fields: Mapping[str, Field] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()
    assets: frozenset[str] = frozenset()
    series: str = ""

    def value(self, name: str) -> str:
        """A field as it is shown."""
        if name in self.fields:
            return self.fields[name][1]
        return DEFAULT_SEVERITY if name == "severity" else ""


def stated(statement: IncidentStatement, time: str) -> Incident:
    """The incident as one statement describes it."""
    values = {name: getattr(statement, name) for name in FIELDS}
    return Incident(
        statement.source,
        statement.external_id,
        furthest([statement.state]),
        opened_at=time,
        acknowledged_at=time if statement.state == "acknowledged" else None,
        resolved_at=time if statement.state == "resolved" else None,
        fields={name: (statement.rank, value) for name, value in values.items() if value},
        tables=frozenset(statement.tables),
        assets=frozenset(statement.assets),
        series=statement.series,
    )


def merge(one: Incident, other: Incident) -> Incident:
    """Two descriptions of the same incident as one."""
    names = one.fields.keys() | other.fields.keys()
    return Incident(
        one.source,
        one.external_id,
        max(one.state, other.state, key=STATES.index),
        opened_at=min(one.opened_at, other.opened_at),
        acknowledged_at=_first(one.acknowledged_at, other.acknowledged_at),
        resolved_at=_first(one.resolved_at, other.resolved_at),
        fields={name: _stronger(name, one.fields.get(name), other.fields.get(name)) for name in names},
        tables=one.tables | other.tables,
        assets=one.assets | other.assets,
        series=max(one.series, other.series),
    )


def with_pass(incident: Incident, passed_at: str | None) -> Incident:
    """The incident once the check of its series has passed, at the given time."""
    if passed_at is None or passed_at <= incident.opened_at:
        return incident
    return replace(incident, state="resolved", resolved_at=_first(incident.resolved_at, passed_at))


def _first(one: str | None, other: str | None) -> str | None:
    return min((time for time in (one, other) if time is not None), default=None)


def _stronger(name: str, one: Field | None, other: Field | None) -> Field:
    return max((field for field in (one, other) if field is not None), key=lambda found: _strength(name, found))


def _strength(name: str, found: Field) -> tuple[int, int, str]:
    rank, value = found
    return rank, SEVERITIES.index(value) if name == "severity" else 0, value
