"""The response bodies, for the OpenAPI document. Responses are serialised by orjson, not by these models."""

from collections.abc import Mapping
from typing import Any, Literal

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response

from lily.api.http.openapi.targets import Confirmation
from lily.lineage.attribute_rules import Mode
from lily.lineage.definitions import Direction, OnDelete


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


class DeniedAsset(BaseModel):
    """`id` is the reference of the request. `policy_id` is null if no scraper policy covers the asset."""

    id: str
    policy_id: str | None
    reason: str


class Batch(BaseModel):
    items: list[Asset]
    missing: list[str]
    denied: list[DeniedAsset]
    next_cursor: None = None


class Accepted(BaseModel):
    """Durably in the log; not necessarily readable yet."""

    status: Literal["success"]
    metadata_id: str


class Applied(Accepted):
    """Readable; `superseded` if a newer event had already won."""

    superseded: bool


# Of a write of one asset: it can be read, or it is in the log.
WRITTEN: dict[int | str, dict[str, Any]] = {200: {"model": Applied}, 202: {"model": Accepted}}


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
    enforcements: list[Confirmation]


class Cause(BaseModel, extra="allow"):
    id: str
    time: str
    by: str = ""


class Difference(BaseModel):
    """`from` and `to`: the value before and after, or null if there was none."""

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


class Suppression(BaseModel):
    by: str
    reason: str
    at: str
    new_origins: list[str] = Field(description="Origins added after the tag was suppressed.")


class TagItem(BaseModel):
    tag: str
    layer: Literal["source", "enriched", "user", "propagated", "inherited"]
    origin: str
    path: list[str] = Field(description="Ids from the origin to the asset.")
    suppressed: bool
    depth: int | None = Field(None, description="Of a derived tag: the number of edges on its path.")
    suppression: Suppression | None = None
    origins: list[str] | None = Field(None, description="With `origins=true`: all origins, nearest first.")
    more: bool | None = Field(None, description="Whether there are more origins than listed.")


class TagItems(BaseModel):
    items: list[TagItem]
    next_cursor: None


class AttributeItem(BaseModel):
    attribute: str
    value: Any = Field(description="For a rule with mode `add`: one item.")
    rule: str
    mode: Mode
    origin: str
    path: list[str] = Field(description="Ids from the origin to the asset.")
    depth: int = Field(description="The number of edges on the path.")


class AttributeItems(BaseModel):
    items: list[AttributeItem]
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


class LineageTaken(BaseModel):
    """The number of assets and edges in an OpenLineage event; `warnings` lists what is wrong with facets that were
    ignored, and is absent if none were."""

    status: Literal["success"]
    assets: int
    edges: int
    warnings: list[Problem] = []


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
    """`facets` and `job_facets` are kept as they came, without those from which assets and edges are stated."""

    job: str
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
    job_type: Any
    source_code_location: Any
    tags: list[str]
    is_deleted: bool
    last_run: RunSummary | None


class LineageTakenMany(Bulk):
    """As for other bulk bodies, with the warnings of all events."""

    warnings: list[RowProblem] = []


class SqlEdge(BaseModel, extra="allow"):
    """`from` and `to` are qualified names."""

    to: str
    relationship_type: str
    from_id: str
    to_id: str


class SqlStatement(BaseModel):
    statement: int
    line: int
    column: int
    status: Literal["understood", "partial", "not_understood"]
    reason: str


class SqlLineage(BaseModel):
    edges: list[SqlEdge]
    statements: int
    understood: int
    partial: int
    not_understood: int
    without_edges: list[SqlStatement]
    stored: bool
    warnings: list[str]


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


class EdgeName(BaseModel, extra="allow"):
    """`from` and `to` are ids."""

    to: str
    relationship_type: str


class EdgesAccepted(BaseModel):
    """Durably in the log; not necessarily readable yet."""

    status: Literal["success"]
    accepted: int
    edges: list[EdgeName]


class EdgesApplied(EdgesAccepted):
    """Readable; `superseded` if a newer event had already won for one of the edges."""

    superseded: bool


class LineageNode(BaseModel):
    """`depth` is the number of edges from the start, negative upstream. `known` is false for an asset that was not
    ingested yet, and for one that is `redacted` because a policy denies it to the caller."""

    id: str
    metadata_id: str
    qualified_name: str | None
    name: str | None
    entity_type: str | None
    is_deleted: bool
    depth: int
    known: bool
    tags: list[str]
    at_risk: list[str]
    redacted: bool


class LastJobRun(BaseModel):
    run_id: str
    state: str
    started_at: str
    ended_at: str | None


class EdgeJob(BaseModel):
    """A job that claims an edge."""

    job_id: str
    qualified_name: str
    last_run: LastJobRun | None


class LineageEdge(EdgeName):
    """`assumed`: nothing but the inputs and outputs of a run suggests the edge. A name is null if the asset is not
    known, or if a policy denies it to the caller. `jobs` is there if it was requested."""

    from_name: str | None
    to_name: str | None
    propagates: bool
    masking: bool
    assumed: bool
    jobs: list[EdgeJob] = []


class Lineage(BaseModel):
    nodes: list[LineageNode]
    edges: list[LineageEdge]
    next_cursor: str | None
