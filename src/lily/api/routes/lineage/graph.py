"""`/lineage`: edges between assets, and the graph around an asset."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import TypeAdapter

from lily.api.auth.authorisation import authorise_edges, denied_references
from lily.api.calls import Call, ReadsLineage, WritesLineage
from lily.api.http import cursors
from lily.api.http.bodies import read_body
from lily.api.http.errors import not_found, problems_response
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.parameters import AssetId
from lily.api.http.openapi.requests import EdgeBody, EdgeNameBody, EdgeNamesBody, EdgesBody, edges_schema
from lily.api.http.openapi.responses import EdgesAccepted, EdgesApplied, Json, Lineage
from lily.api.http.paging import Cursor
from lily.api.ingest.edge_events import edge_events
from lily.api.ingest.edge_writes import missing, write_edges
from lily.api.reads.edge_jobs import jobs_of, writers_of
from lily.api.reads.lineage_json import page_json
from lily.api.reads.lineage_nodes import described_page
from lily.api.reads.lineage_pages import (
    DEFAULT_DEPTH,
    MAX_DEPTH,
    MAX_EDGES,
    Direction,
    LineagePosition,
    LineageRequest,
)
from lily.api.reads.references import resolve
from lily.model.edges import EdgeEvent
from lily.store.postgres.graph.traversal import has_edges

router = APIRouter(tags=["lineage"])

BODY_BYTES = 24 << 20  # 10,000 edges between assets with the longest names
WRITTEN: dict[int | str, dict[str, Any]] = {200: {"model": EdgesApplied}, 202: {"model": EdgesAccepted}}
POSITION: TypeAdapter[LineagePosition] = TypeAdapter(LineagePosition)
Depth = Annotated[int, Query(ge=1, le=MAX_DEPTH, description="The longest path to follow, in edges.")]
Edges = Annotated[int, Query(ge=1, le=MAX_EDGES, description="The most edges in one page.")]
RemoveDeleted = Annotated[bool, Query(description="Leave out deleted assets, and what is reachable only through them.")]
Jobs = Annotated[
    bool, Query(description="Add the jobs that claim each edge, and those that write the asset, with their last run.")
]
Columns = Annotated[bool, Query(description="Also start from the columns of the asset.")]


@router.post(
    "/lineage", status_code=202, responses=WRITTEN, openapi_extra=body_schema(edges_schema(EdgeBody), examples.EDGES)
)
async def relate(call: WritesLineage) -> Json:
    """Creates or changes edges, at most 10,000 per request: all of them or, if one is invalid, none.

    An edge points the way data flows. Assets are named by id or qualified name and may be ingested later. Ingestion
    does not undo what a user set on an edge. An edge that is blocked or masked without `policy:write` goes on
    conducting protective tags until that is confirmed."""
    body = await read_body(call.request, EdgesBody, BODY_BYTES)
    stated = [edge.model_dump(by_alias=True, exclude_unset=True) for edge in body.edges]
    events = await edge_events(call, stated, "upsert")
    await authorise_edges(call, [event.statement.key for event in events], _names(events))
    return await write_edges(call, events)


@router.delete(
    "/lineage",
    status_code=202,
    responses=WRITTEN,
    openapi_extra=body_schema(edges_schema(EdgeNameBody), examples.EDGE_NAMES),
)
async def unrelate(call: WritesLineage) -> Json:
    """Deletes edges. `POST /lineage` restores them. An edge that is deleted without `policy:write` is no longer shown,
    and goes on conducting protective tags until that is confirmed."""
    body = await read_body(call.request, EdgeNamesBody, BODY_BYTES)
    events = await edge_events(call, [edge.model_dump(by_alias=True) for edge in body.edges], "delete")
    if problems := await missing(call, events):
        return problems_response(404, problems)
    await authorise_edges(call, [event.statement.key for event in events], _names(events))
    return await write_edges(call, events)


@router.get("/lineage/{id:text}", responses={200: {"model": Lineage}})
async def lineage(
    *,
    id: AssetId,  # noqa: A002 - the contract's name
    call: ReadsLineage,
    direction: Direction = "downstream",
    depth: Depth = DEFAULT_DEPTH,
    remove_deleted: RemoveDeleted = False,
    columns: Columns = False,
    jobs: Jobs = False,
    limit: Edges = 1_000,
    cursor: Cursor = None,
) -> Json:
    """Returns the lineage graph around an asset, nearest first.

    A page has the next edges and the assets that they reach first; the `depth` of an asset upstream is negative.
    `both` follows the edges downstream and, separately, upstream. `remove_deleted` leaves out deleted assets and what
    is reachable only through them. `columns` also starts from the asset's columns. `jobs` adds to each edge the jobs
    that claim it, and beside the edges those that have named the asset as an output, also if they read nothing or
    failed; each with its last run. The tags of an asset are those in effect. An asset that a policy denies to the
    caller is `redacted`: it has its id and its place in the graph, and nothing else."""
    start = resolve(call.tenant, id)
    question = (call.tenant, start, direction, str(depth), str(remove_deleted), str(columns))
    after = None if cursor is None else cursors.unseal(cursor, POSITION, *question)
    page, known = await described_page(
        call, LineageRequest(start, direction, depth, remove_deleted, columns, limit, after)
    )
    denied = await _denied(call, start, id, page.assets())
    is_unknown = start in page.nodes and start not in known and not page.edges
    # It may still be the end of an edge in the other direction, or of a deleted one.
    if is_unknown and not await has_edges(call.services.database, call.tenant, start):
        raise not_found(id)
    claims = await jobs_of(call, page.edges) if jobs else None
    next_cursor = cursors.seal(page.next, *question) if page.next else None
    writers = await writers_of(call, start) if jobs else None
    return Json(page_json(page, known, denied, claims, next_cursor, writers=writers))


def _names(events: Sequence[EdgeEvent]) -> list[str]:
    return [name for event in events for name in event.statement.names]


async def _denied(call: Call, start: str, reference: str, assets: Collection[str]) -> Collection[str]:
    """Raises Declined with 404 if the start is denied: a graph around it would describe it, and so would a 403."""
    denied = await denied_references(call, "READ", assets)
    if start in denied:
        raise not_found(reference)
    return denied
