"""The events of the topic `incident-events`: statements, and webhooks as they came."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lily.incidents.ids import content_id, incident_id
from lily.incidents.statements import IncidentStatement, SeriesPassed, read_passed, read_statement
from lily.model.envelopes import FUTURE_SKEW, read_envelope
from lily.model.errors import Problem, Refused
from lily.model.events import LogEvent

INCIDENT_STATED = "lily.incident.stated"
SERIES_PASSED = "lily.series.passed"
WEBHOOK_RECEIVED = "lily.webhook.received"


@dataclass(frozen=True, slots=True)
class IncidentEvent(LogEvent):
    """One statement about one incident, or about a series of them."""

    statement: IncidentStatement | SeriesPassed

    @property
    def incident_id(self) -> str:
        """Empty if it is about a series."""
        said = self.statement
        return "" if isinstance(said, SeriesPassed) else incident_id(self.tenant, said.source, said.external_id)

    @property
    def key(self) -> bytes:
        return f"{self.tenant}/{self.incident_id or self.id}".encode()

    def as_cloudevent(self) -> dict[str, Any]:
        type_ = SERIES_PASSED if isinstance(self.statement, SeriesPassed) else INCIDENT_STATED
        return self.enclose(type_, self.incident_id, self.statement.as_data())


@dataclass(frozen=True, slots=True)
class WebhookEvent(LogEvent):
    """A verified delivery of another system. The worker turns it into statements."""

    source: str
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, tenant: str, source: str, headers: Mapping[str, str], body: bytes, time: str) -> "WebhookEvent":
        """Its id follows from its content, so a delivery that is replayed is the same event."""
        return cls(content_id(tenant, source, body), time, tenant, source, headers, body)

    @property
    def key(self) -> bytes:
        return f"{self.tenant}/{self.id}".encode()

    def as_cloudevent(self) -> dict[str, Any]:
        body = base64.b64encode(self.body).decode()
        return self.enclose(WEBHOOK_RECEIVED, "", {"source": self.source, "headers": dict(self.headers), "body": body})


def read_incident_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> IncidentEvent:
    """Validates a decoded CloudEvent of either kind of statement. Raises Refused with every problem found."""
    passed = isinstance(event, dict) and event.get("type") == SERIES_PASSED
    envelope, data = read_envelope(event, SERIES_PASSED if passed else INCIDENT_STATED, received=received, skew=skew)
    statement = read_passed(data) if passed else read_statement(data)
    return IncidentEvent(*envelope[:3], statement, correlation=envelope.correlation, trace=envelope.trace)


def read_webhook_event(event: Any, *, received: str) -> WebhookEvent:
    """Raises Refused for anything that `WebhookEvent.as_cloudevent` does not make."""
    envelope, data = read_envelope(event, WEBHOOK_RECEIVED, received=received)
    source, headers, body = data.get("source"), data.get("headers"), data.get("body")
    if not isinstance(source, str) or not isinstance(headers, dict) or not isinstance(body, str):
        raise Refused(Problem("INVALID_TYPE", "a webhook has a source, headers and a body in base64", "data"))
    try:
        raw = base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise Refused(Problem("INVALID_VALUE", f"the body of the webhook is not base64: {error}", "body")) from error
    return WebhookEvent(*envelope[:3], source, {str(name): str(value) for name, value in headers.items()}, raw)
