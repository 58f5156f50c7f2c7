"""Bodies, examples and responses of enforcement, for the OpenAPI document."""

from typing import Annotated, Any, Literal

from fastapi import Path
from fastapi.openapi.models import Example
from pydantic import BaseModel, Field

from lily.api.http.openapi.examples import Examples
from lily.model.values import MAX_NAME

State = Literal["requested", "confirmed", "drift", "failed"]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]

TARGET = "warehouse"
TargetName = Annotated[
    str, Path(description="The target's name, in any case.", openapi_examples={"a target": Example(value=TARGET)})
]
TARGET_EXAMPLES: Examples = {
    "a PostgreSQL database": {
        "name": TARGET,
        "type": "postgres",
        "data_source": "shop",
        "config": {"url": "postgresql://lily:PASSWORD@db.example.com/shop"},
        "roles": {"bi_readers": {"group": "bi-team"}},
    },
    "a webhook": {
        "name": "notebooks",
        "type": "webhook",
        "data_source": "shop",
        "config": {"url": "https://notebooks.example.org/lily", "secrets": ["whsec_SECRET"]},
    },
}


class NewTarget(BaseModel, extra="forbid"):
    """`config` is the plug-in's; it is stored encrypted and never shown again."""

    name: Name
    type: Name
    config: dict[str, Any]
    data_source: Name | None = None
    roles: dict[Name, dict[Literal["user", "group", "role"], Name]] = {}


class Finding(BaseModel):
    subject: str
    description: str


class Run(BaseModel):
    began_at: str
    finished_at: str
    steps: int
    drifted: int
    error: str | None


class Step(BaseModel):
    table: str
    change: str


class PlanResponse(BaseModel):
    """`count` is the number of all steps; `steps` has the first thousand."""

    request: str
    planned_at: str
    count: int
    steps: list[Step]
    findings: list[Finding]
    error: str | None


class ReceiptCounts(BaseModel):
    """How many tags of assets the target enforces, and how many changes of tags it has not confirmed yet."""

    confirmed: int
    waiting: int


class DriftedTable(BaseModel):
    """`repaired_at` is null while the table is not as decided."""

    table: str
    at: str
    repaired_at: str | None
    found: str
    expected: str


class Target(BaseModel):
    """Never the configuration. The state `waiting`: for a person to run the script. `waiting_since`: a change or a
    refresh was requested then and is not finished. `drifted` has the last tables that were changed by hand."""

    name: str
    type: str
    data_source: str
    roles: dict[str, dict[str, str]]
    state: Literal["new", "waiting", "in line", "failing", "stopped", "removing"]
    tables: int
    columns: int
    findings: list[Finding]
    created_at: str
    confirmed_at: str | None
    failed_at: str | None
    error: str | None
    waiting_since: str | None
    last_run: Run | None
    receipts: ReceiptCounts
    drifted: list[DriftedTable]
    failed_tables: list[dict[str, str]]
    plan: PlanResponse | None


class RemovedTarget(BaseModel):
    """Lily has nothing left to do in it."""

    name: str
    state: Literal["removed"]


class Targets(BaseModel):
    items: list[Target]
    next_cursor: str | None


class Requested(BaseModel):
    """`requested_at` compares with `last_run.began_at` of the target."""

    status: Literal["requested"]
    target: str
    requested_at: str


class EnforcementReceipt(BaseModel):
    """`withdrawn`: the target no longer has to enforce the tag on this asset. A time is null until it has come."""

    target: str
    asset_id: str
    qualified_name: str
    tag: str
    table: str
    withdrawn: bool
    state: State
    requested_at: str
    confirmed_at: str | None
    drift_at: str | None
    error: str | None


class Enforcements(BaseModel):
    items: list[EnforcementReceipt]
    next_cursor: str | None


class Confirmation(BaseModel):
    """When a target had confirmed a write and everything before it."""

    target: str
    state: Literal["requested", "confirmed", "failed"]
    confirmed_at: str | None
    error: str | None
