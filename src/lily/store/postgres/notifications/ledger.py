"""What the reaction writes: notifications and their deliveries. Runs in the caller's transaction."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.notify.events import Occurrence
from lily.notify.occurrence_codec import encoded
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
        return {
            row[0] for row in self._execute("notifications/insert", {"rows": Jsonb([*map(_stated, notifications)])})
        }

    def insert_deliveries(self, deliveries: Sequence[NewDelivery]) -> None:
        if not deliveries:
            return
        values = {"rows": Jsonb(deliveries), "tenant": self._tenant}
        self._connection.execute(query("deliveries/insert"), values)

    def open_leads(self, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """By subscription and target, the delivery that others may still join."""
        if not wanted:
            return {}
        pairs = sorted(wanted)
        values = {"subscriptions": [one for one, _ in pairs], "targets": [target for _, target in pairs]}
        return {(row[0], row[1]): row[2] for row in self._execute("deliveries/open_leads", values)}

    def _execute(self, name: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(query(name), values | {"tenant": self._tenant}).fetchall()


def delete_old_notifications(connection: Connection[Any], keep: timedelta) -> int:
    """Of all tenants; returns their number."""
    row = connection.execute(query("notifications/delete_old"), {"keep": keep}).fetchone()
    return int(row[0]) if row else 0


def _storable(text: str) -> str:
    """Text from outside may have what PostgreSQL does not store."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def _stated(one: NewNotification) -> dict[str, Any]:
    """A row. One document for all of them costs a fraction of an array per column."""
    event = one.occurrence
    return {
        "id": one.id,
        "event_id": event.event_id,
        "at": event.at,
        "kind": one.kind,
        "severity": event.severity,
        "title": _storable(one.title),
        "text": _storable(one.text),
        "incident_id": event.incident_id,
        "assets": [subject.id for subject in event.subjects],
        "event": encoded(event),
        "muted": one.muted,
    }
