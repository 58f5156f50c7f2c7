"""Bodies, parameters, examples and responses about incidents and webhooks, for the OpenAPI document."""

from typing import Annotated, Any

from fastapi import Header, Path, Query
from fastapi.openapi.models import Example
from pydantic import BaseModel, Field

from lily.api.http.openapi.examples import ORDERS, Examples
from lily.incidents import Severity, State
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, MAX_TEXT

SOURCE = "monte-carlo"
A_DAY = 24 * 60 * 60
INCIDENT_ID = "0190a5b0-7b1e-8c3d-9e4f-0123456789ab"

IncidentId = Annotated[
    str, Path(alias="id", description="The incident's id.", openapi_examples={"an id": Example(value=INCIDENT_ID)})
]
SourceName = Annotated[
    str,
    Path(
        description="The system that sends the webhook: the name of an intake (`lily plugins`) or of a mapping.",
        openapi_examples={"Monte Carlo": Example(value=SOURCE)},
    ),
]
OktaChallenge = Annotated[
    str,
    Header(alias="X-Okta-Verification-Challenge", description="What Okta sends, and expects in the response."),
]
TenantName = Annotated[str, Query(alias="tenant", max_length=MAX_NAME, description="The tenant that it is for.")]
InState = Annotated[State | None, Query(description="Only incidents in this state.")]
WithSeverity = Annotated[Severity | None, Query(description="Only incidents of this severity.")]
OfSource = Annotated[str | None, Query(max_length=MAX_NAME, description="Only incidents that this system reported.")]
OfAsset = Annotated[
    str | None, Query(max_length=MAX_QUALIFIED_NAME, description="Only incidents of this asset, by id or name.")
]
Words = Annotated[str | None, Query(max_length=MAX_NAME, description="Words, or parts of words, of the title.")]

WEBHOOK_EXAMPLES: Examples = {
    "an anomaly": {
        "type": "open_anomaly_incident",
        "payload": {"incident_id": "f83867b6", "event_list": [{"table_name": ORDERS}]},
    }
}
SECRET_EXAMPLES: Examples = {
    "a secret": {"secret": "one-that-only-the-sender-knows"},
    "the one before ends now": {"secret": "one-that-only-the-sender-knows", "keep_previous_for": 0},
}
NOTE_EXAMPLES: Examples = {"a note": {"note": "The load is running again"}}
NOTE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"note": {"type": "string", "maxLength": MAX_TEXT}},
    "additionalProperties": False,
}


class NewSecret(BaseModel, extra="forbid"):
    """`keep_previous_for`: for how many seconds the secret before stays valid."""

    secret: str = Field(min_length=8, max_length=1024)
    keep_previous_for: int = Field(A_DAY, ge=0, le=30 * A_DAY)


class Note(BaseModel, extra="forbid"):
    note: str = Field("", max_length=MAX_TEXT)


class Received(BaseModel):
    status: str


class OktaVerification(BaseModel):
    verification: str


class RemovedSecret(BaseModel):
    status: str
    source: str


class WebhookSecret(BaseModel):
    source: str
    created_at: str
    previous_valid_until: str | None


class WebhookSecretList(BaseModel):
    items: list[WebhookSecret]
    next_cursor: str | None


class IncidentAsset(BaseModel):
    """The type and the name are null for an asset that was not ingested yet."""

    metadata_id: str
    entity_type: str | None
    qualified_name: str | None


class IncidentResponse(BaseModel):
    """`assets` are those that it concerns itself; `unmatched` are names of tables that no asset has yet."""

    incident_id: str
    source: str
    external_id: str
    state: State
    severity: Severity
    title: str
    description: str
    url: str
    kind: str
    owner: str
    opened_at: str
    acknowledged_at: str | None
    resolved_at: str | None
    updated_at: str
    assets: list[IncidentAsset]
    unmatched: list[str]


class IncidentList(BaseModel):
    items: list[IncidentResponse]
    next_cursor: str | None


class IncidentMessage(BaseModel):
    """`change` is what the message stated."""

    event_id: str
    at: str
    by: str
    change: dict[str, Any]


class IncidentLink(BaseModel):
    name: str
    url: str


class IncidentDetail(IncidentResponse):
    """`history` has the newest messages first."""

    history: list[IncidentMessage]
    links: list[IncidentLink]


class AssetAtRisk(BaseModel):
    metadata_id: str
    qualified_name: str | None = Field(description="Null if the asset of an edge was not ingested yet.")
    name: str | None
    entity_type: str | None
    is_deleted: bool
    via: str | None = Field(description="The asset from which it came; null if the incident names this one.")
    path: list[str] = Field(description="Ids, an asset of the incident first.")


class AssetsAtRisk(BaseModel):
    items: list[AssetAtRisk]
    next_cursor: str | None
