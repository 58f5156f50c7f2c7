"""The audit, dead letters, tickets, probes and the start page."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from lily.api.http.openapi.responses.errors import Problem


class AuditEntry(BaseModel):
    number: int = Field(description="1, 2, 3, … in the tenant's chain")
    at: str
    actor: str = Field(description="the user, or the token if it was issued without one")
    token_id: str | None = Field(description="null for users who signed in, for commands and for Lily itself")
    address: str | None = Field(description="the client's IP address, `cli`, or the name of a part of Lily")
    correlation: str | None
    action: str
    subject: str
    detail: dict[str, Any]
    previous_hash: str
    hash: str


class AuditEntries(BaseModel):
    items: list[AuditEntry]
    next_cursor: str | None


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
    denied: list[int]


class Ticket(BaseModel):
    ticket: str
    expires_in: int


class Health(BaseModel):
    status: Literal["ok"]


class Readiness(Health):
    lag: dict[str, int] = Field(description="By topic: the number of events in the log that cannot be read yet.")


class Pointer(BaseModel):
    name: str
    version: str
    docs: str
    openapi: str
    schemas: str
    health: str
    metrics: str
