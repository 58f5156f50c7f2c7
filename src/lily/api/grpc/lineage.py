"""`lineage.LineageService`: what a source says about an edge, a person's update, the graph around an asset."""

from collections.abc import Mapping
from typing import Any

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
from lily.api.reads.lineage_pages import DEEPEST, DEPTH, Question, is_known, page_of
from lily.api.reads.references import find, resolve
from lily.api.receipts.receipt import Stated
from lily.model.errors import Problem, Refused

SERVICE = "lineage.LineageService"
MOST_RELATIONSHIPS = 10_000  # in one message
_FIELDS = {"from": "from_asset_id", "to": "to_asset_id"}


async def ingest_relationships(call: GrpcCall, asked: Relationship) -> GenericMessage:
    """An edge as its source states it. It takes nothing away, so no protective tag has to be guarded."""
    edge = {"from": asked.from_asset_id, "to": asked.to_asset_id, "relationship_type": asked.relationship_type}
    try:
        event = edge_event(call, edge, "source", "upsert")
    except Refused as error:
        raise Refused(*(_as_the_message_calls_it(problem) for problem in error.problems)) from error
    return await write(call, [lineage_record(event)])


async def propagate_update_downstream(call: GrpcCall, asked: MetadataPropagationRequest) -> GenericMessage:
    """A person's update. What of it travels, and how far, is the business of propagation."""
    told = asked.updated_metadata
    asset = await find(call, _reference(told.asset_id, "updated_metadata.asset_id"))
    events = events_of(call, asset, told)
    for event in events:
        await guard(call, asset, event)
    stated = Stated.by(events[0]) if len(events) == 1 else None
    return await write(call, [asset_record(event) for event in events], stated)


async def get_lineage(call: GrpcCall, asked: GetLineageRequest) -> GetLineageResponse:
    """Raises Declined where there is more than one answer should hold: a part would look like the whole."""
    reference = _reference(asked.asset_id, "asset_id")
    if not 0 <= asked.depth <= DEEPEST:
        raise Refused(Problem("INVALID_VALUE", f"depth is 1 to {DEEPEST}, or 0 for {DEPTH}", "depth"))
    start, depth = resolve(call.tenant, reference), asked.depth or DEPTH
    question = Question(start, "both", depth, asked.remove_deleted, columns=False, limit=MOST_RELATIONSHIPS, after=None)
    page = await page_of(call, question)
    if page.next is not None:
        more = f"there are more than {MOST_RELATIONSHIPS} relationships"
        why = f"{more}; ask for less depth, or GET /lineage/ID page by page"
        raise Declined(413, Problem("TOO_LARGE", why, "depth"))
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


def _relationship(edge: Mapping[str, Any]) -> Relationship:
    return Relationship(from_asset_id=edge["from"], to_asset_id=edge["to"], relationship_type=edge["relationship_type"])


def _reference(given: str, entity: str) -> str:
    if not given.strip():
        raise Refused(Problem("MISSING_FIELD", "name the asset, by id or qualified name", entity))
    return given


def _as_the_message_calls_it(problem: Problem) -> Problem:
    return Problem(problem.code, problem.description, _FIELDS.get(problem.entity, problem.entity))
