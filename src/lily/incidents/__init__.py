"""Incidents: what other systems, quality rules and people state about issues of data, and how statements merge.

Messages about an incident carry no reliable time and come repeatedly, late and in any order. So an incident is the
merge of everything that was stated about it, and merging is commutative, associative and idempotent (decision 31).
"""

from lily.incidents.events import (
    INCIDENT_STATED,
    SERIES_PASSED,
    WEBHOOK_RECEIVED,
    IncidentEvent,
    WebhookEvent,
    read_incident_event,
    read_webhook_event,
)
from lily.incidents.ids import content_id, incident_id
from lily.incidents.matching import folded, is_bare, spellings
from lily.incidents.merging import Incident, merge, stated, with_pass
from lily.incidents.statements import FIELDS, IncidentStatement, SeriesPassed, read_passed, read_statement
from lily.incidents.states import DEFAULT_SEVERITY, SEVERITIES, STATES, Severity, State, furthest
from lily.incidents.transitions import TransitionEvent

__all__ = [
    "DEFAULT_SEVERITY",
    "FIELDS",
    "INCIDENT_STATED",
    "SERIES_PASSED",
    "SEVERITIES",
    "STATES",
    "WEBHOOK_RECEIVED",
    "Incident",
    "IncidentEvent",
    "IncidentStatement",
    "SeriesPassed",
    "Severity",
    "State",
    "TransitionEvent",
    "WebhookEvent",
    "content_id",
    "folded",
    "furthest",
    "incident_id",
    "is_bare",
    "merge",
    "read_incident_event",
    "read_passed",
    "read_statement",
    "read_webhook_event",
    "spellings",
    "stated",
    "with_pass",
]
