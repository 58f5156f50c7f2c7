"""What the reaction writes: notifications and their deliveries. Runs in the caller's transaction."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.notify.events import Occurrence
from lily.notify.occurrence_codec import encoded
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query


@dataclass(frozen=True, slots=True)
class NewNotification:
    id: str
    occurrence: Occurrence
    kind: str
    title: str
    text: str
    muted: bool = False


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """`assets` are those that matched, None for all of the notification's; `lead` is what it is sent with."""

    id: str
    notification: str
    subscription: str
    channel: str
    destination: str
    target: str
    kind: str
    state: str
    reason: str = ""
    assets: Sequence[str] | None = None
    owners: Sequence[str] = field(default_factory=tuple)
    incident_id: str | None = None
    is_lead: bool = False
    lead: str | None = None
    due_at: datetime | None = None


class NotificationLedger:
    """Of one tenant, on a worker's connection. Raises psycopg's errors."""

    def __init__(self, connection: Connection[Any], tenant: str) -> None:
        self._connection, self._tenant = connection, tenant

    def insert_notifications(self, notifications: Sequence[NewNotification]) -> set[str]:
        """Returns the ids of those that are new."""
        if not notifications:
            return set()
        events = [one.occurrence for one in notifications]
        values = {
            "ids": [one.id for one in notifications],
            "event_ids": [one.event_id for one in events],
            "at": [one.at for one in events],
            "kinds": [one.kind for one in notifications],
            "severities": [one.severity for one in events],
            "titles": [_storable(one.title) for one in notifications],
            "texts": [_storable(one.text) for one in notifications],
            "incidents": [one.incident_id for one in events],
            "assets": [id_array(subject.id for subject in one.subjects) for one in events],
            "events": [Jsonb(encoded(one)) for one in events],
            "muted": [one.muted for one in notifications],
        }
        return {row[0] for row in self._execute("insert_notifications", values)}

    def insert_deliveries(self, deliveries: Sequence[NewDelivery]) -> None:
        if not deliveries:
            return
        values = {
            "ids": [one.id for one in deliveries],
            "notifications": [one.notification for one in deliveries],
            "subscriptions": [one.subscription for one in deliveries],
            "channels": [one.channel for one in deliveries],
            "destinations": [one.destination for one in deliveries],
            "targets": [one.target for one in deliveries],
            "kinds": [one.kind for one in deliveries],
            "states": [one.state for one in deliveries],
            "reasons": [one.reason for one in deliveries],
            "assets": [None if one.assets is None else id_array(one.assets) for one in deliveries],
            "owners": [_text_array(one.owners) for one in deliveries],
            "incidents": [one.incident_id for one in deliveries],
            "is_lead": [one.is_lead for one in deliveries],
            "leads": [one.lead for one in deliveries],
            "due": [one.due_at for one in deliveries],
        }
        self._connection.execute(query("notifications/insert_deliveries"), values | {"tenant": self._tenant})

    def open_leads(self, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """By subscription and target, the delivery that others may still join."""
        if not wanted:
            return {}
        pairs = sorted(wanted)
        values = {"subscriptions": [one for one, _ in pairs], "targets": [target for _, target in pairs]}
        return {(row[0], row[1]): row[2] for row in self._execute("open_leads", values)}

    def _execute(self, name: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(query(f"notifications/{name}"), values | {"tenant": self._tenant}).fetchall()


def delete_old_notifications(connection: Connection[Any], keep: timedelta) -> int:
    """Of all tenants; returns their number."""
    row = connection.execute(query("notifications/delete_old"), {"keep": keep}).fetchone()
    return int(row[0]) if row else 0


def _storable(text: str) -> str:
    """Text from outside may have what PostgreSQL does not store."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def _text_array(values: Iterable[str]) -> str:
    """An array literal: arrays of arrays of different lengths cannot be sent."""
    quoted = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join(f'"{value}"' for value in quoted) + "}"
