"""Merges statements into the stored incidents.

Everything runs in the caller's transaction, and one worker at a time merges a tenant's statements. What is read is what
was committed, so a statement that is repeated changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.incidents import FIELDS, Incident, IncidentEvent, IncidentStatement, SeriesPassed, merge, stated, with_pass
from lily.model import clock
from lily.store.postgres.copying import id_array
from lily.store.postgres.incidents.announcing import Change, announce
from lily.store.postgres.incidents.names import NamesOfIncident, attach
from lily.store.postgres.queries import query

LOCK = "incidents"  # held to change a tenant's incidents

Series = tuple[str, str]  # source and name


def identities(connection: Connection[Any], tenant: str, incident_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """By id, the source and external id of those incidents that there are."""
    parameters = {"tenant": tenant, "ids": id_array(incident_ids)}
    rows = connection.execute(query("incidents/merging/identities"), parameters).fetchall()
    return {incident_id: (source, external_id) for incident_id, source, external_id in rows}


class Merged(NamedTuple):
    changed: int  # incidents that are announced
    unmatched: int  # names that no asset has, and that were not known


class IncidentMerger:
    """On one connection of the pipeline's role. Take the tenant's lock before the transaction begins."""

    def __init__(self, connection: Connection[Any], tenant: str) -> None:
        self._connection, self._tenant = connection, tenant

    def apply(self, events: Sequence[IncidentEvent]) -> Merged:
        """Merges statements of the tenant, in whatever order they come."""
        said: dict[str, list[IncidentEvent]] = {}
        passes: list[IncidentEvent] = []
        for event in events:
            if isinstance(event.statement, SeriesPassed):
                passes.append(event)
            else:
                said.setdefault(event.incident_id, []).append(event)
        self._record_passes(passes)
        before = self._find(said, passes)
        after = {one: reduce(merge, _described(before.get(one), said.get(one, ()))) for one in [*before, *said]}
        after = self._with_passes(after)
        changed = {one: found for one, found in after.items() if found != before.get(one)}
        self._store(changed)
        causes = _causes(said, passes, changed)
        self._record_history(causes)
        attached, unmatched = attach(self._connection, self._tenant, _names(said))
        visible = {one for one in changed if _is_visible(before.get(one), after[one])} | attached
        changes = [_change(one, before.get(one)) for one in causes if one in visible]
        announce(self._connection, self._tenant, changes)
        return Merged(len(changes), unmatched)

    def _find(self, said: Mapping[str, Any], passes: Sequence[IncidentEvent]) -> dict[str, Incident]:
        parameters = {"tenant": self._tenant, "ids": id_array(said), **_passed(passes)}
        rows = self._connection.execute(query("incidents/merging/find"), parameters).fetchall()
        return {row[0]: _incident(row[1:]) for row in rows}

    def _record_passes(self, passes: Sequence[IncidentEvent]) -> None:
        if passes:
            self._connection.execute(
                query("incidents/merging/record_passes"), {"tenant": self._tenant, **_passed(passes)}
            )

    def _with_passes(self, found: Mapping[str, Incident]) -> dict[str, Incident]:
        """An incident that arrives after its check has passed again is resolved already."""
        wanted = sorted({(one.source, one.series) for one in found.values() if one.series})
        if not wanted:
            return dict(found)
        parameters = {"tenant": self._tenant, "sources": [s for s, _ in wanted], "series": [n for _, n in wanted]}
        rows = self._connection.execute(query("incidents/merging/passes"), parameters)
        passed: dict[Series, str] = {(source, name): clock.stamp(at) for source, name, at in rows}
        return {one: with_pass(each, passed.get((each.source, each.series))) for one, each in found.items()}

    def _store(self, changed: Mapping[str, Incident]) -> None:
        if changed:
            rows = [_row(incident_id, incident) for incident_id, incident in changed.items()]
            self._connection.execute(query("incidents/merging/upsert"), {"tenant": self._tenant, "rows": Jsonb(rows)})

    def _record_history(self, causes: Mapping[str, Sequence[IncidentEvent]]) -> None:
        rows = [
            {
                "incident_id": one,
                "event_id": event.id,
                "at": event.time,
                "by": event.statement.by,
                "change": event.statement.as_data(),
            }
            for one, events in causes.items()
            for event in events
        ]
        if rows:
            self._connection.execute(query("incidents/history/record"), {"tenant": self._tenant, "rows": Jsonb(rows)})


def _described(before: Incident | None, events: Iterable[IncidentEvent]) -> list[Incident]:
    """Names and assets are stored apart, so here they are left out."""
    said = [(event.statement, event.time) for event in events]
    found = [stated(one, time) for one, time in said if isinstance(one, IncidentStatement)]
    return [
        *([] if before is None else [before]),
        *(replace(one, tables=frozenset(), assets=frozenset()) for one in found),
    ]


def _causes(
    said: Mapping[str, Sequence[IncidentEvent]], passes: Sequence[IncidentEvent], changed: Mapping[str, Incident]
) -> dict[str, list[IncidentEvent]]:
    """By incident, the events that are part of its history: what was stated, and the passes that changed it."""
    found = {one: list(events) for one, events in said.items()}
    by_series: dict[Series, list[IncidentEvent]] = {}
    for event in passes:
        if isinstance(event.statement, SeriesPassed):
            by_series.setdefault((event.statement.source, event.statement.series), []).append(event)
    for one, incident in changed.items():
        for event in by_series.get((incident.source, incident.series), ()):
            if event.time == incident.resolved_at:
                found.setdefault(one, []).append(event)
    return found


def _names(said: Mapping[str, Sequence[IncidentEvent]]) -> list[NamesOfIncident]:
    found = []
    for incident_id, events in said.items():
        statements = [event.statement for event in events if isinstance(event.statement, IncidentStatement)]
        tables = {name for statement in statements for name in statement.tables}
        assets = {asset for statement in statements for asset in statement.assets}
        if tables or assets:
            found.append(NamesOfIncident(incident_id, statements[0].source, tables, assets))
    return found


def _passed(passes: Sequence[IncidentEvent]) -> dict[str, list[str]]:
    found = [(event.statement, event.time) for event in passes]
    series = [(said.source, said.series, time) for said, time in found if isinstance(said, SeriesPassed)]
    return {
        "sources": [source for source, _, _ in series],
        "series": [name for _, name, _ in series],
        "passed": [time for _, _, time in series],
    }


def _change(incident_id: str, before: Incident | None) -> Change:
    return Change(incident_id, None if before is None else before.state, is_new=before is None)


def _is_visible(before: Incident | None, after: Incident) -> bool:
    """Whether anything but times changed."""
    if before is None or before.state != after.state:
        return True
    return any(before.value(name) != after.value(name) for name in FIELDS)


def _incident(row: Sequence[Any]) -> Incident:
    source, external_id, state, opened_at, acknowledged_at, resolved_at, fields, series = row
    return Incident(
        source,
        external_id,
        state,
        clock.stamp(opened_at),
        _stamp(acknowledged_at),
        _stamp(resolved_at),
        {name: (rank, value) for name, (rank, value) in fields.items()},
        series=series,
    )


def _stamp(moment: datetime | None) -> str | None:
    return None if moment is None else clock.stamp(moment)


def _row(incident_id: str, incident: Incident) -> dict[str, Any]:
    return {
        "incident_id": incident_id,
        "source": incident.source,
        "external_id": incident.external_id,
        "state": incident.state,
        **{name: incident.value(name) for name in FIELDS},
        "series": incident.series,
        "fields": dict(incident.fields),
        "opened_at": incident.opened_at,
        "acknowledged_at": incident.acknowledged_at,
        "resolved_at": incident.resolved_at,
    }
