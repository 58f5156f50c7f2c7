"""The JSON Schemas of events about incidents. They are documentation: `lily.incidents.statements` validates."""

from typing import Final

from lily.incidents.events import INCIDENT_STATED, SERIES_PASSED, WEBHOOK_RECEIVED
from lily.incidents.statements import FIELDS, RANKS
from lily.incidents.states import SEVERITIES, STATES
from lily.model.schemas import Schema, event_schema, name_schema, object_schema, published
from lily.model.values import MAX_ITEMS, MAX_QUALIFIED_NAME

_TEXT: Final[Schema] = {"type": "string"}

INCIDENT_EVENT: Final[Schema] = event_schema(
    INCIDENT_STATED,
    object_schema(
        ["source", "external_id", "rank"],
        {
            "source": name_schema(),
            "external_id": name_schema(),
            "state": {"enum": list(STATES)},
            **{name: {"type": "string", "maxLength": longest} for name, longest in FIELDS.items()},
            "severity": {"enum": list(SEVERITIES)},
            "tables": {"type": "array", "items": name_schema(MAX_QUALIFIED_NAME), "maxItems": MAX_ITEMS},
            "assets": {"type": "array", "items": {"type": "string", "format": "uuid"}, "maxItems": MAX_ITEMS},
            "rank": {"enum": list(RANKS), "description": "0: first message, 1: update of the source, 2: a person"},
            "by": _TEXT,
            "note": _TEXT,
            "series": {**_TEXT, "description": "the check of which it is a failure"},
            "raw": {"description": "the message as it came"},
        },
    ),
)

PASSED_EVENT: Final[Schema] = event_schema(
    SERIES_PASSED,
    object_schema(
        ["source", "series"], {"source": name_schema(), "series": name_schema(MAX_QUALIFIED_NAME), "by": _TEXT}
    ),
)

WEBHOOK_EVENT: Final[Schema] = event_schema(
    WEBHOOK_RECEIVED,
    object_schema(
        ["source", "headers", "body"],
        {
            "source": name_schema(),
            "headers": {"type": "object", "additionalProperties": _TEXT},
            "body": {**_TEXT, "contentEncoding": "base64"},
        },
    ),
)

SCHEMAS: Final[dict[str, Schema]] = published(
    {"incident-event": INCIDENT_EVENT, "series-passed-event": PASSED_EVENT, "webhook-event": WEBHOOK_EVENT}
)
