"""Bodies, parameters, examples and responses about refreshes, for the OpenAPI document."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from fastapi.openapi.models import Example
from pydantic import BaseModel, Field

from lily.api.http.openapi.examples import Examples
from lily.api.http.openapi.responses import Errors
from lily.model.values import MAX_ITEMS, MAX_NAME, MAX_TEXT
from lily.store.postgres.refreshes.runs import Outcome, State

RUN_ID = "0b6f0a52-6f0e-4b6a-9c1b-1d0d5a6a8f10"
SHOP = "shop"
Duration = Annotated[str, Field(max_length=32, description="Such as 90s, 30m, 6h or 7d.")]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Lease = Annotated[str, Field(pattern="^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]

DataSource = Annotated[
    str,
    Path(
        description="The data source, as its assets name it. A slash in it is sent as `%2F`.",
        openapi_examples={"a database": Example(value=SHOP)},
    ),
]
RunId = Annotated[
    str, Path(alias="run_id", description="The run's id.", openapi_examples={"an id": Example(value=RUN_ID)})
]
OfDataSource = Annotated[str | None, Query(max_length=MAX_NAME, description="Only runs of this data source.")]
InState = Annotated[State | None, Query(description="Only runs in this state.")]

SCHEDULE_EXAMPLES: Examples = {
    "every six hours": {"every": "6h"},
    "switched off": {"enabled": False},
    "with a longer timeout": {"every": "24h", "timeout": "8h"},
}
TAKE_EXAMPLES: Examples = {"two data sources": {"data_sources": [SHOP, "warehouse"]}, "any": {"data_sources": []}}
START_EXAMPLES: Examples = {"without a lease": {}}
FINISH_EXAMPLES: Examples = {
    "succeeded": {"state": "succeeded", "counts": {"read": 1200, "accepted": 1200}},
    "failed": {"state": "failed", "error": "The database does not accept the password"},
}
CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": Errors, "description": "The run is finished, is held by another scraper, or is not finished yet"}
}


class ScheduleSettings(BaseModel, extra="forbid"):
    """What is not stated has its default."""

    every: Duration = "24h"
    timeout: Duration = "4h"
    enabled: bool = True


class Take(BaseModel, extra="forbid"):
    """An empty list is any data source."""

    data_sources: list[Name] = Field([], max_length=MAX_ITEMS)


class Start(BaseModel, extra="forbid"):
    """`lease`: of the scraper that took the run. Reported again, the start renews the lease."""

    lease: Lease | None = None


class Finish(BaseModel, extra="forbid"):
    """`counts` is what the scraper wants to be shown, such as how many assets it read."""

    state: Outcome
    error: str = Field("", max_length=MAX_TEXT)
    counts: dict[Name, int] = Field({}, max_length=MAX_ITEMS)
    lease: Lease | None = None


class LastRun(BaseModel):
    run_id: str
    state: State
    finished_at: str


class Schedule(BaseModel):
    """`configured` is false while the default applies, `run_id` is the unfinished run, and `next_at` is null while the
    schedule is switched off."""

    data_source: str
    every: str
    timeout: str
    enabled: bool
    configured: bool
    first_seen: str
    next_at: str | None
    run_id: str | None
    last_run: LastRun | None


class ScheduleList(BaseModel):
    items: list[Schedule]
    next_cursor: str | None


class ResetSchedule(BaseModel):
    status: str
    data_source: str


class Run(BaseModel):
    """`deadline` is when it times out. `scraper` reported the start."""

    run_id: str
    data_source: str
    state: State
    reason: Literal["schedule", "catch-up", "manual"]
    due_at: str
    requested_at: str
    requested_by: str
    timeout: str
    deadline: str
    started_at: str | None
    scraper: str
    finished_at: str | None
    error: str
    counts: dict[str, int]


class RunList(BaseModel):
    items: list[Run]
    next_cursor: str | None


class Taken(BaseModel):
    """`run` is null if there is none to take. `lease` is sent with the start and the end of the run."""

    run: Run | None
    lease: str | None
