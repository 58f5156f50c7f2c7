"""Appends a write that came over gRPC and responds, at once or when it can be read."""

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
    """Records of one topic. Raises LogFull or LogUnavailable if the log does not take them all; then repeating the
    whole is harmless. Raises Declined with 422 where the call waited for them, and the pipeline refused one."""
    append = LogAppend(call, keep_positions=True)
    await append.add(records)
    settlement = await append.settle(stated)
    call.show(settlement.receipt)
    if settlement.applied:
        await _raise_refusal(call, append.positions)
    return GenericMessage(success=True, message=APPLIED if settlement.applied else DURABLE)


async def _raise_refusal(call: GrpcCall, positions: Sequence[Position]) -> None:
    places = [(at.partition, at.offset) for at in positions]
    errors = await errors_at(call.services.database, call.tenant, positions[0].topic, places, 1)
    if errors:
        problem = Problem(errors[0]["code"], errors[0]["description"], errors[0]["entity"])
        raise Declined(422, problem)
