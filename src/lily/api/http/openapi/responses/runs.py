"""Jobs and their runs."""

from typing import Any, Literal

from pydantic import BaseModel


class RunError(BaseModel):
    message: str | None
    stack_trace: str | None


class RunReference(BaseModel):
    """A run that another one names; `job` is the qualified name of its job."""

    run_id: str
    job_id: str | None
    job: str | None


class RunSummary(BaseModel):
    """The nominal times are those of the schedule, as the producer wrote them."""

    run_id: str
    job_id: str
    state: Literal["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"]
    started_at: str
    ended_at: str | None
    updated_at: str
    nominal_start: str | None
    nominal_end: str | None
    error: RunError | None
    parent: RunReference | None
    root: RunReference | None


class RunDataset(BaseModel):
    """`redacted`: a policy denies it to the caller."""

    metadata_id: str
    qualified_name: str | None
    facets: dict[str, Any]
    redacted: bool


class JobRun(RunSummary):
    """`facets` and `job_facets` are kept as they came, without those from which assets and edges are stated.
    `other_jobs` have a run of the same id, which they sent later."""

    job: str
    other_jobs: list[str]
    facets: dict[str, Any]
    job_facets: dict[str, Any]
    inputs: list[RunDataset]
    outputs: list[RunDataset]


class Runs(BaseModel):
    items: list[RunSummary]
    next_cursor: str | None


class Job(BaseModel):
    job_id: str
    qualified_name: str
    name: str | None
    description: str | None
    owner: str | None
    owners: list[dict[str, Any]] | None
    job_type: Any
    source_code_location: Any
    tags: list[str]
    is_deleted: bool
    facets: dict[str, Any]
    last_run: RunSummary | None


class AssetFacets(BaseModel):
    """Facets of events without a run. `inputs` and `outputs` are those datasets of a job that have any."""

    metadata_id: str
    qualified_name: str
    facets: dict[str, Any]
    inputs: list[RunDataset]
    outputs: list[RunDataset]
