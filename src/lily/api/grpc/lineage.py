"""`lineage.LineageService`: ingests an edge, updates an asset, and returns the graph around an asset."""

from typing import Any

from lily.api.auth.authorisation import authorise_edges, authorise_events, denied_references
from lily.api.auth.protection import guard
from lily.api.grpc.calls import GrpcCall
from lily.api.grpc.generated.lineage_pb2 import (
    GenericMessage,
    GetLineageRequest,
    GetLineageResponse,
    MetadataPropagationRequest,
    Relationship,
)
from lily.api.grpc.rpcs import Rpc
from lily.api.grpc.updates import events_of
from lily.api.grpc.writes import write
from lily.api.http.errors import Declined, not_found
from lily.api.ingest.edge_events import edge_event
from lily.api.ingest.records import asset_record, lineage_record
from lily.api.reads.lineage_nodes import is_known
from lily.api.reads.lineage_pages import DEFAULT_DEPTH, MAX_DEPTH, LineageEdge, LineageRequest, page_of
from lily.api.reads.references import find, resolve
from lily.api.receipts.receipt import Stated
from lily.model.errors import Problem, Refused

SERVICE = "lineage.LineageService"
MAX_RELATIONSHIPS = 10_000  # in one message
_FIELDS = {"from": "from_asset_id", "to": "to_asset_id"}


async def ingest_relationships(call: GrpcCall, request: Relationship) -> GenericMessage:
    """Ingests an edge of the source layer. That removes no protective tag, so nothing has to be guarded."""
    edge = {"from": request.from_asset_id, "to": request.to_asset_id, "relationship_type": request.relationship_type}
    try:
        event = edge_event(call, edge, "source", "upsert")
    except Refused as error:
        raise Refused(*(_with_message_field(problem) for problem in error.problems)) from error
    await authorise_edges(call, [event.statement.key], event.statement.names)
    return await write(call, [lineage_record(event)])


async def propagate_update_downstream(call: GrpcCall, request: MetadataPropagationRequest) -> GenericMessage:
    """Updates an asset in the user layer. Propagation follows from the update, as it does for REST."""
    metadata = request.updated_metadata
    asset = await find(call, _reference(metadata.asset_id, "updated_metadata.asset_id"), "WRITE")
    events = events_of(call, asset, metadata)
    for event in events:
        guard(call, asset, event)
    await authorise_events(call, events)
    stated = Stated.by(events[0]) if len(events) == 1 else None
    return await write(call, [asset_record(event) for event in events], stated)


async def get_lineage(call: GrpcCall, request: GetLineageRequest) -> GetLineageResponse:
    """Raises Declined with 413 if one response cannot hold the graph: a part of it would look like the whole. An edge
    shows the ids of its ends alone, also of those that a policy denies."""
    reference = _reference(request.asset_id, "asset_id")
    if not 0 <= request.depth <= MAX_DEPTH:
        raise Refused(
            Problem("INVALID_VALUE", f"depth must be 1 to {MAX_DEPTH}, or 0 for the default {DEFAULT_DEPTH}", "depth")
        )
    start, depth = resolve(call.tenant, reference), request.depth or DEFAULT_DEPTH
    walk = LineageRequest(
        start, "both", depth, request.remove_deleted, columns=False, limit=MAX_RELATIONSHIPS, after=None
    )
    if await denied_references(call, "READ", [start]):
        raise not_found(reference)
    page = await page_of(call, walk)
    if page.next is not None:
        description = (
            f"there are more than {MAX_RELATIONSHIPS} relationships; "
            "request a smaller depth, or use GET /lineage/ID, which returns pages"
        )
        raise Declined(413, Problem("TOO_LARGE", description, "depth"))
    if not page.edges and not await is_known(call, start):
        raise not_found(reference)
    return GetLineageResponse(
        success=True,
        message=f"{len(page.edges)} relationships",
        lineage=[_relationship(edge) for edge in page.edges],
    )


RPCS: dict[str, Rpc[Any]] = {
    "IngestRelationships": Rpc("lineage:write", Relationship, ingest_relationships),
    "PropagateUpdateDownstream": Rpc("metadata:write", MetadataPropagationRequest, propagate_update_downstream),
    "GetLineage": Rpc("lineage:read", GetLineageRequest, get_lineage),
}


def _relationship(edge: LineageEdge) -> Relationship:
    from_id, to_id, kind = edge[:3]
    return Relationship(from_asset_id=from_id, to_asset_id=to_id, relationship_type=kind)


def _reference(given: str, entity: str) -> str:
    if not given.strip():
        raise Refused(Problem("MISSING_FIELD", "name the asset, by id or qualified name", entity))
    return given


def _with_message_field(problem: Problem) -> Problem:
    return Problem(problem.code, problem.description, _FIELDS.get(problem.entity, problem.entity))
