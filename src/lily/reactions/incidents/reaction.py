"""The incidents reaction: turns webhooks into statements, and merges statements into the stored incidents."""

from collections.abc import Sequence
from typing import Any

import orjson
from prometheus_client import CollectorRegistry, Counter
from psycopg import Connection

from lily.bus import topics
from lily.incidents import WEBHOOK_RECEIVED, IncidentEvent, read_incident_event, read_webhook_event
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.plugins import INTAKES, Delivery, Sender, installed
from lily.reactions.base import Event
from lily.store.postgres.incidents.merging import LOCK, IncidentMerger
from lily.store.postgres.incidents.names import queue_look

FIRST_LOOK_SECONDS = 1.0  # after a name was not matched: the asset may be on its way


class Incidents:
    """A reaction. Its effects are incidents, their assets and history, announcements, and a job that looks again for
    the names that no asset has."""

    name = LOCK
    topics = (topics.INCIDENTS,)

    def __init__(self, registry: CollectorRegistry) -> None:
        self._merged = Counter("lily_incidents_changed", "Incidents that statements changed", registry=registry)
        self._unmatched = Counter("lily_incident_names_unmatched", "Names that no asset had", registry=registry)
        self._connection: Connection[Any] | None = None

    def open(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def handle(self, tenant: str, events: Sequence[Event]) -> None:
        assert self._connection is not None  # noqa: S101 - the runner opens a reaction before it handles anything
        said = [statement for event in events for statement in statements_of(tenant, event.value)]
        merged = IncidentMerger(self._connection, tenant).apply(said)
        if merged.unmatched:
            queue_look(self._connection, tenant, FIRST_LOOK_SECONDS)
        self._merged.inc(merged.changed)
        self._unmatched.inc(merged.unmatched)


def statements_of(tenant: str, value: bytes) -> list[IncidentEvent]:
    """The statements of one record. Raises Refused if it cannot be read, or is another tenant's."""
    envelope = orjson.loads(value)
    # An event is as old as the log: what it states of its time was checked at the door.
    received = clock.now()
    if isinstance(envelope, dict) and envelope.get("type") == WEBHOOK_RECEIVED:
        found = _of_webhook(envelope, received)
    else:
        found = [read_incident_event(envelope, received=received)]
    if any(event.tenant != tenant for event in found):
        raise Refused(
            Problem("INVALID_ENVELOPE", "the record's key and its envelope name different tenants", "tenantid")
        )
    return found


def _of_webhook(envelope: dict[str, Any], received: str) -> list[IncidentEvent]:
    webhook = read_webhook_event(envelope, received=received)
    intake = installed().make(INTAKES, webhook.source, {})
    delivery = Delivery(webhook.body, webhook.headers, webhook.time)
    sender = Sender(webhook.tenant, webhook.source, correlation=webhook.correlation, trace=webhook.trace)
    found: list[IncidentEvent] = []
    for item in intake.decode(delivery):
        for event in intake.events(item, delivery, sender):
            if not isinstance(event, IncidentEvent):
                described = (
                    f"the intake {webhook.source} states {type(event).__name__}; a webhook can only state incidents"
                )
                raise Refused(Problem("INVALID_TYPE", described, "body"))
            # A plug-in may be foreign: what it states is checked like what came from elsewhere.
            found.append(read_incident_event(event.as_cloudevent(), received=received))
    return found
