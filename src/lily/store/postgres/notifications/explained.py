"""The events that `explain` is asked about: notifications, else the incident or the change itself."""

from typing import NamedTuple

from lily.model import changes, clock, ids
from lily.notify.events import Occurrence, Subject, change_record, incident_kinds, read_change, severity_of
from lily.notify.identities import notification_id
from lily.notify.occurrence_codec import decoded
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

MAX_EVENTS = 20
CHANGE = "change-"  # the ids of change events: their position follows


class Found(NamedTuple):
    """`notification` is None for an event that made none."""

    notification: str | None
    occurrence: Occurrence


async def read_events(database: Database, tenant: str, reference: str) -> list[Found]:
    """By the id of a notification, an incident or a change event; newest first, empty if there is none."""
    identity = reference.lower() if ids.looks_like_uuid(reference) else None
    parameters = {"id": identity, "of_event": notification_id(tenant, reference), "limit": MAX_EVENTS}
    rows = await database.fetch(tenant, query("notifications/explained_events"), parameters)
    if rows:
        return [Found(row[0], decoded(row[1])) for row in rows]
    if identity is not None:
        return await _incident(database, tenant, identity)
    position = reference.removeprefix(CHANGE)
    if reference.startswith(CHANGE) and position.isascii() and position.isdigit() and int(position) < 2**63:
        return await _change(database, tenant, reference, int(position))
    return []


async def _incident(database: Database, tenant: str, identity: str) -> list[Found]:
    rows = await database.fetch(tenant, query("notifications/explained_incident"), {"id": identity})
    return [
        Found(
            None,
            Occurrence(
                identity,
                incident_kinds(incident),
                severity_of(incident["severity"]),
                at,
                tuple(Subject(asset) for asset in assets),
                incident,
            ),
        )
        for incident, at, assets in rows
    ]


async def _change(database: Database, tenant: str, reference: str, position: int) -> list[Found]:
    rows = await database.fetch(tenant, query("notifications/explained_change"), {"position": position})
    return [
        Found(
            None,
            read_change(
                change_record(
                    event_id=reference,
                    asset=asset,
                    entity_type=entity_type,
                    qualified_name=name,
                    layer=layer,
                    change=changes.kind(before, after, causes),
                    changed=sorted(changes.differences(before, after)),
                    tags=changes.tag_changes(before, after),
                    by=causes[-1].get("by", "") if causes else "",
                    at=clock.stamp(committed_at),
                )
            ),
        )
        for asset, entity_type, name, layer, before, after, causes, committed_at in rows
    ]
