"""Definitions of tags, attribute rules, settings, dry runs, and receipts of propagation."""

from typing import Literal

from pydantic import BaseModel, Field

from lily.api.http.openapi.responses.errors import Problem
from lily.api.http.openapi.targets import Confirmation
from lily.lineage.attribute_rules import Mode
from lily.lineage.definitions import Direction, OnDelete


class Receipt(BaseModel):
    id: str
    state: Literal["pending", "applied", "superseded", "refused"]
    metadata_id: str | None
    reached: int
    depth: int
    started: str | None
    finished: str | None
    errors: list[Problem]
    enforcements: list[Confirmation]


class Definition(BaseModel):
    name: str
    propagates: bool
    direction: Direction
    max_depth: int | None
    edge_types: list[str] | None
    stopped_by_masking: bool


class Definitions(BaseModel):
    items: list[Definition]
    next_cursor: str | None


class Undefined(BaseModel):
    status: Literal["success"]
    name: str


class AttributeRule(BaseModel):
    name: str
    attribute: str
    mode: Mode
    direction: Direction
    max_depth: int | None
    edge_types: list[str] | None


class AttributeRules(BaseModel):
    items: list[AttributeRule]
    next_cursor: str | None


class TenantSettings(BaseModel):
    on_delete: OnDelete
    unknown_objects: Literal["open", "closed"]
    decision_log: Literal["off", "sampled", "all"]
    decision_log_rate: float


class WouldReach(BaseModel):
    metadata_id: str
    qualified_name: str | None = Field(description="Null if the asset of an edge was not ingested yet.")
    depth: int
    via: str
    already: bool | None = Field(description="The asset has the tag now.")
    suppressed: bool | None = Field(
        description="The tag is suppressed there: not effective, and not propagated further."
    )
    redacted: bool = Field(description="A policy denies the asset to the caller; name and tag are null.")


class DryRun(BaseModel):
    tag: str
    propagates: bool
    reached: int
    depth: int
    items: list[WouldReach]
    next_cursor: str | None
