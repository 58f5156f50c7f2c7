"""Edges as they are written, analyzed and read."""

from typing import Literal

from pydantic import BaseModel


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
    ingested yet, which has a name if an edge named it so, and for one that is `redacted` because a policy denies it to
    the caller."""

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
    """`error` is the message of a run that failed, if it sent one."""

    run_id: str
    state: str
    started_at: str
    ended_at: str | None
    error: str | None


class EdgeJob(BaseModel):
    """A job that claims an edge or writes a dataset."""

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
    """`jobs` are those that have named the asset as an output, if they were requested."""

    nodes: list[LineageNode]
    edges: list[LineageEdge]
    next_cursor: str | None
    jobs: list[EdgeJob] = []
