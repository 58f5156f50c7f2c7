"""Bodies, examples and responses of usage and quality policies, for the OpenAPI document."""

from typing import Annotated, Any, Final

from fastapi import Path, Query
from fastapi.openapi.models import Example
from pydantic import BaseModel, Field

from lily.api.http.openapi.examples import DASHBOARD, ORDERS, Examples
from lily.api.http.openapi.responses import Problem
from lily.incidents import SEVERITIES, Severity
from lily.model.schemas import MAX_USAGE_EVENTS, Schema
from lily.model.usage import KEEP_DAYS
from lily.quality.policies import MAX_DAYS, MAX_DELAY_HOURS, POLICY_TYPES, PolicyType

POLICY_ID: Final = "orders-usage"
QualityPolicyId = Annotated[
    str, Path(description="The policy's id, in any case.", openapi_examples={"a policy": Example(value=POLICY_ID)})
]
Days = Annotated[int, Query(ge=1, le=KEEP_DAYS, description="How many days, today included.")]

USAGE: Final[Examples] = {
    "an hour of two assets": {
        "events": [
            {"asset_id": ORDERS, "query_count": 112, "event_id": "2026-11-16T08"},
            {"asset_id": DASHBOARD, "query_count": 9, "event_id": "2026-11-16T08"},
        ]
    }
}
QUALITY_POLICIES: Final[Examples] = {
    "queries deviate": {"id": POLICY_ID, "asset": ORDERS, "policy_type": "query_count_deviation", "threshold": 15},
    "a spike": {"asset": ORDERS, "policy_type": "query_spike", "threshold": 100_000, "severity": "critical"},
    "unused tables": {
        "asset": "*",
        "policy_type": "unused_for_x_days",
        "threshold": 90,
        "filters": {"entity_types": ["table", "view"]},
    },
}
CHANGED_POLICY: Final[Examples] = {
    "a higher threshold": {"asset": ORDERS, "policy_type": "query_count_deviation", "threshold": 30}
}


class UsageBody(BaseModel, extra="forbid"):
    """Each event is validated by itself."""

    events: Annotated[list[Any], Field(min_length=1, max_length=MAX_USAGE_EVENTS)]


class DailyUsage(BaseModel):
    day: str
    query_count: int


class Usage(BaseModel):
    """Every day, oldest first; today is not over. Days are UTC."""

    metadata_id: str
    items: list[DailyUsage]
    next_cursor: None


class Filters(BaseModel):
    entity_types: list[str]
    data_sources: list[str]
    minimum: float


class QualityPolicyResponse(BaseModel):
    """`judged_at` is null until all of its assets were judged for the first time."""

    id: str
    name: str
    asset: str
    policy_type: PolicyType
    threshold: float | None
    days: int
    delay_hours: int
    severity: Severity
    filters: Filters
    open_findings: int
    created_at: str
    updated_at: str
    judged_at: str | None


class StoredQualityPolicy(QualityPolicyResponse):
    """`warnings` has `UNKNOWN_ASSET` if nothing has ingested the asset yet."""

    warnings: list[Problem] = []


class QualityPolicies(BaseModel):
    items: list[QualityPolicyResponse]
    next_cursor: str | None


class DeletedPolicy(BaseModel):
    status: str
    id: str


def _policy_body() -> Schema:
    names: Schema = {"type": "array", "items": {"type": "string"}}
    properties: Schema = {
        "id": {"type": "string", "description": "optional; by default a new UUID"},
        "name": {"type": "string"},
        "asset": {"type": "string", "description": 'an id, a qualified name, or "*"'},
        "policy_type": {"enum": list(POLICY_TYPES)},
        "threshold": {"type": ["number", "null"], "minimum": 0},
        "days": {"type": "integer", "minimum": 1, "maximum": MAX_DAYS},
        "delay_hours": {"type": "integer", "minimum": 0, "maximum": MAX_DELAY_HOURS},
        "severity": {"enum": list(SEVERITIES)},
        "filters": {
            "type": "object",
            "properties": {"entity_types": names, "data_sources": names, "minimum": {"type": "number", "minimum": 0}},
            "additionalProperties": False,
        },
    }
    return {
        "type": "object",
        "required": ["asset", "policy_type"],
        "properties": properties,
        "additionalProperties": False,
    }


POLICY_BODY: Final[Schema] = _policy_body()
