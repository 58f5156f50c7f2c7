"""What a record of `incident-events` holds: statements, or a webhook from which they follow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from lily.incidents import WEBHOOK_RECEIVED, IncidentEvent, TransitionEvent, read_incident_event, read_webhook_event
from lily.intake.sources import by_mapping, plugged_in
from lily.model import clock
from lily.model.directory import UserEvent
from lily.model.errors import Problem, Refused
from lily.plugins import Delivery, Event, Intake, Sender

Stored = Callable[[str], dict[str, Any] | None]  # the tenant's own mapping of a source


@dataclass(slots=True)
class Content:
    """`ignored` counts the items of webhooks that concern nothing that Lily knows. `refused` are those that cannot be
    read, of webhooks of which others can."""

    statements: list[IncidentEvent] = field(default_factory=list)
    transitions: list[TransitionEvent] = field(default_factory=list)
    users: list[UserEvent] = field(default_factory=list)
    ignored: int = 0
    refused: list[Refused] = field(default_factory=list)

    def add(self, other: "Content") -> None:
        self.statements += other.statements
        self.transitions += other.transitions
        self.users += other.users
        self.ignored += other.ignored
        self.refused += other.refused


def content_of(tenant: str, value: bytes, stored: Stored) -> Content:
    """Raises Refused if a record cannot be read, or is another tenant's."""
    envelope = orjson.loads(value)
    # An event is as old as the log: what it states of its time was checked at the door.
    received = clock.now()
    if isinstance(envelope, dict) and envelope.get("type") == WEBHOOK_RECEIVED:
        return _webhook_content(tenant, envelope, received, stored)
    content = Content()
    _add(content, tenant, read_incident_event(envelope, received=received))
    return content


def _webhook_content(tenant: str, envelope: dict[str, Any], received: str, stored: Stored) -> Content:
    """Raises Refused if the delivery, or each of its items, cannot be read. An item that cannot must not hold up the
    others: one of them may be a user who leaves."""
    webhook = read_webhook_event(envelope, received=received)
    intake = _intake(webhook.source, stored)
    delivery = Delivery(webhook.body, webhook.headers, webhook.time)
    sender = Sender(webhook.tenant, webhook.source, correlation=webhook.correlation, trace=webhook.trace)
    content, items = Content(), intake.decode(delivery)
    for item in items:
        try:
            _add_all(content, tenant, intake.events(item, delivery, sender), received)
        except Refused as error:
            content.refused.append(error)
    if items and len(content.refused) == len(items):
        raise content.refused[0]
    return content


def _add_all(content: Content, tenant: str, events: Sequence[Event | Problem], received: str) -> None:
    """All of them or none. What is wrong with parts that were ignored is left out: the sender is gone."""
    # A plug-in may be foreign: what it states is checked like what came from elsewhere.
    checked = [
        read_incident_event(event.as_cloudevent(), received=received) if isinstance(event, IncidentEvent) else event
        for event in events
        if not isinstance(event, Problem)
    ]
    read = Content(ignored=0 if checked else 1)
    for event in checked:
        _add(read, tenant, event)
    content.add(read)


def _intake(source: str, stored: Stored) -> Intake:
    found = plugged_in(source) or by_mapping(source, stored(source))
    if found is None:
        described = f"no intake and no mapping reads webhooks of {source!r}; restore it, then replay the dead letter"
        raise Refused(Problem("UNKNOWN_SOURCE", described, "source"))
    return found


def _add(content: Content, tenant: str, event: Event) -> None:
    if event.tenant != tenant:
        described = "the record's key and its envelope name different tenants"
        raise Refused(Problem("INVALID_ENVELOPE", described, "tenantid"))
    if isinstance(event, IncidentEvent):
        content.statements.append(event)
    elif isinstance(event, TransitionEvent):
        content.transitions.append(event)
    elif isinstance(event, UserEvent):
        content.users.append(event)
    else:
        described = f"the intake states {type(event).__name__}; a webhook can only state incidents and change users"
        raise Refused(Problem("INVALID_TYPE", described, "body"))
