"""The shapes of answers, for the OpenAPI document. Answers are written by orjson, not by these models."""

from collections.abc import Mapping
from typing import Any, Literal

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response


class Json(Response):
    media_type = "application/json"

    def __init__(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        body = content if isinstance(content, bytes) else orjson.dumps(content)
        super().__init__(body, status, headers)


class Problem(BaseModel):
    code: str
    description: str
    entity: str


class Errors(BaseModel):
    errors: list[Problem]


class Attributes(BaseModel, extra="allow"):
    name: str | None
    qualified_name: str
    description: str | None
    owner: str | None
    created_by: str | None
    data_source: str | None
    parent: str | None
    tags: list[str]
    business_terms: list[str]


class Tags(BaseModel):
    source: list[str]
    enriched: list[str]
    user: list[str]
    propagated: list[str]
    inherited: list[str]
    effective: list[str]


class Asset(BaseModel):
    metadata_id: str
    entity_type: str
    attributes: Attributes
    tags: Tags
    at_risk: list[str]
    tenant_id: str
    version: int
    is_deleted: bool
    created_at: str
    updated_at: str
    fresh_as_of: str


class Assets(BaseModel):
    items: list[Asset]
    next_cursor: str | None


class Batch(BaseModel):
    items: list[Asset]
    missing: list[str]
    next_cursor: None = None


class Accepted(BaseModel):
    """Durably in the log, not yet known to be readable."""

    status: Literal["success"]
    metadata_id: str


class Applied(Accepted):
    """Readable; superseded if a newer event had already won."""

    superseded: bool


class RowProblem(Problem):
    row: int


class Bulk(BaseModel):
    accepted: int
    rejected: int
    errors: list[RowProblem]


class Receipt(BaseModel):
    id: str
    state: Literal["pending", "applied", "superseded", "refused"]
    metadata_id: str | None
    reached: int
    depth: int
    started: str | None
    finished: str | None
    errors: list[Problem]


class Cause(BaseModel, extra="allow"):
    id: str
    time: str
    by: str = ""


class Difference(BaseModel):
    """`from` and `to`: the value before and after; null where there was none."""

    model_config = {"extra": "allow"}


class Change(BaseModel):
    position: int
    version: int
    layer: Literal["source", "enriched", "user"]
    change: Literal["created", "updated", "deleted", "restored", "tagged", "untagged"]
    what: dict[str, Difference]
    causes: list[Cause]
    at: str


class History(BaseModel):
    items: list[Change]
    next_cursor: str | None


class TagItem(BaseModel):
    tag: str
    layer: Literal["source", "enriched", "user", "propagated", "inherited"]
    origin: str
    path: list[str]
    suppressed: bool


class TagItems(BaseModel):
    items: list[TagItem]
    next_cursor: None


class DeadLetter(BaseModel):
    id: int
    topic: str
    partition: int
    offset: int
    errors: list[Problem]
    refused_at: str
    replayed_at: str | None
    original: str | None
    encoding: Literal["text", "base64"]
    truncated: bool


class DeadLetters(BaseModel):
    items: list[DeadLetter]
    next_cursor: str | None


class Replayed(BaseModel):
    replayed: int
    missing: list[int]


class Ticket(BaseModel):
    ticket: str
    expires_in: int


class Health(BaseModel):
    status: Literal["ok"]


class Readiness(Health):
    lag: dict[str, int] = Field(description="by topic, how many events are in the log and cannot be read yet")


class Pointer(BaseModel):
    name: str
    version: str
    docs: str
    openapi: str
    schemas: str
