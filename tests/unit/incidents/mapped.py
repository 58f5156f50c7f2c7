"""What a mapping makes of a message, as the log has it."""

import json
from typing import Any

from lily.incidents import IncidentEvent, IncidentStatement, SeriesPassed, read_incident_event
from lily.intake.mapped import Mapped, Mapping
from lily.plugins import Delivery, Sender

NOW = "2026-02-01T00:00:00.000000Z"
SENDER = Sender("acme", "tickets")
Said = IncidentStatement | SeriesPassed


def mapped(fields: dict[str, Any] | None = None, **more: Any) -> Mapped:
    stated = {"external_id": "@.id", "title": "@.title"} | (fields or {})
    body = {"name": "tickets", "signature": {"type": "bearer"}, "fields": stated} | more
    return Mapped(Mapping.model_validate(body))


def events(intake: Mapped, body: Any) -> list[IncidentEvent]:
    delivery = Delivery(json.dumps(body).encode(), {}, NOW)
    found = [event for item in intake.decode(delivery) for event in intake.events(item, delivery, SENDER)]
    stated = [event for event in found if isinstance(event, IncidentEvent)]
    assert len(stated) == len(found)
    return [read_incident_event(event.as_cloudevent(), received=NOW) for event in stated]


def said(intake: Mapped, body: Any) -> list[Said]:
    return [event.statement for event in events(intake, body)]


def incident(intake: Mapped, body: Any) -> IncidentStatement:
    (found,) = said(intake, body)
    assert isinstance(found, IncidentStatement)
    return found
