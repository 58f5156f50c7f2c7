"""Appends a write that came over gRPC, and responds at once or when the write can be read."""

from collections.abc import Sequence

from lily.api.grpc.calls import GrpcCall
from lily.api.grpc.generated.lineage_pb2 import GenericMessage
from lily.api.http.errors import Declined
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.records import Record
from lily.api.receipts.receipt import Stated
from lily.model.errors import Problem
from lily.model.records import Position
from lily.store.postgres.dead_letters.records import errors_at

DURABLE = "durable: it can be read in a moment"
APPLIED = "applied: it can be read now"


async def write(call: GrpcCall, records: Sequence[Record], stated: Stated | None = None) -> GenericMessage:
    """Appends records of one topic. Raises LogFull or LogUnavailable if the log does not confirm all of them; repeating
    the whole write is harmless. Raises Declined with 422 if the call waited and the pipeline refused a record."""
    append = LogAppend(call, keep_positions=True)
    await append.add(records)
    settlement = await append.settle(stated)
    call.send_receipt(settlement.receipt)
    if settlement.applied:
        await _raise_refusal(call, append.positions)
    return GenericMessage(success=True, message=APPLIED if settlement.applied else DURABLE)


async def _raise_refusal(call: GrpcCall, positions: Sequence[Position]) -> None:
    offsets = [(at.partition, at.offset) for at in positions]
    errors = await errors_at(call.services.database, call.tenant, positions[0].topic, offsets, 1)
    if errors:
        problem = Problem(errors[0]["code"], errors[0]["description"], errors[0]["entity"])
        raise Declined(422, problem)
