"""Bodies, examples and responses about mappings of webhooks, for the OpenAPI document."""

from typing import Annotated, Any, Literal, get_args

from fastapi import Path
from fastapi.openapi.models import Example
from pydantic import BaseModel

from lily.api.http.openapi.examples import ORDERS, Examples
from lily.api.http.openapi.responses import Errors
from lily.intake.mapped.mapping import MAX_ALTERNATIVES, MAX_CONDITIONS, Fields, Scheme
from lily.model.schemas import Schema

TICKETS = "tickets"
MappingName = Annotated[
    str, Path(alias="name", description="The source.", openapi_examples={"a mapping": Example(value=TICKETS)})
]
_WRITTEN: Schema = {
    "description": "a path, a text with paths in braces, or a list of these, of which the first with a value holds",
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": MAX_ALTERNATIVES}],
}
_TABLE: Schema = {
    "type": "object",
    "required": ["path", "values"],
    "properties": {"path": _WRITTEN, "values": {"type": "object", "additionalProperties": {"type": "string"}}},
    "additionalProperties": False,
}
_EITHER: Schema = {"anyOf": [_WRITTEN, _TABLE]}
_FIELDS: dict[str, Schema] = dict.fromkeys(Fields.model_fields, _WRITTEN)
MAPPING_SCHEMA: Schema = {
    "type": "object",
    "required": ["name", "signature", "fields"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,62}$"},
        "description": {"type": "string"},
        "signature": {
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": {"enum": list(get_args(Scheme))},
                "header": {"type": "string"},
                "prefix": {"type": "string"},
                "encoding": {"enum": ["hex", "base64"]},
            },
            "additionalProperties": False,
        },
        "items": _WRITTEN,
        "fields": {
            "type": "object",
            "required": ["external_id"],
            "properties": _FIELDS | {"state": _TABLE, "severity": _EITHER, "kind": _EITHER},
            "additionalProperties": False,
        },
        "when": {"type": "array", "items": {"type": "object"}, "maxItems": MAX_CONDITIONS},
    },
    "additionalProperties": False,
}
MAPPING_EXAMPLES: Examples = {
    "a ticket system": {
        "name": TICKETS,
        "signature": {"type": "hmac-sha256", "header": "X-Signature"},
        "when": [{"path": "$.type", "in": ["data-issue"]}],
        "fields": {
            "external_id": "$.id",
            "state": {"path": "$.status", "values": {"new": "open", "in work": "acknowledged", "closed": "resolved"}},
            "severity": {"path": "$.priority", "values": {"1": "critical", "*": "warning"}},
            "title": "Ticket {$.id}: {$.summary}",
            "url": "$.link",
            "tables": "$.tables[*].name",
        },
    }
}
SAMPLE_EXAMPLES: Examples = {
    "a message": {
        "id": 17,
        "type": "data-issue",
        "status": "new",
        "priority": 1,
        "summary": "No rows",
        "tables": [{"name": ORDERS}],
    }
}
MAPPING_EXISTS: dict[int | str, dict[str, Any]] = {
    409: {"model": Errors, "description": "There is one of that name, or an intake has the name, or there are too many"}
}


class MappingResponse(BaseModel):
    """The mapping as it was stated. `shipped`: Lily has it without being configured."""

    name: str
    description: str = ""
    signature: dict[str, Any]
    fields: dict[str, Any]
    items: str | list[str] | None = None
    when: list[dict[str, Any]] = []
    shipped: bool


class MappingList(BaseModel):
    items: list[MappingResponse]
    next_cursor: str | None


class DeletedMapping(BaseModel):
    status: str
    name: str


class TestedItem(BaseModel):
    """`statement` is what would be merged into an incident, `reason` why nothing would be, `errors` what is wrong."""

    outcome: Literal["incident", "passed", "ignored", "refused"]
    time: str | None = None
    statement: dict[str, Any] | None = None
    reason: str | None = None
    errors: list[dict[str, str]] | None = None


class TestedMapping(BaseModel):
    items: list[TestedItem]
