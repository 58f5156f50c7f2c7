"""Appends a write that came over gRPC, and answers it: at once, or when it can be read if the caller would wait."""

from collections.abc import Sequence

from lily.api.grpc.calls import GrpcCall
from lily.api.grpc.generated.lineage_pb2 import GenericMessage
from lily.api.http.errors import Declined
from lily.api.ingest.appends import Entry, count
from lily.api.ingest.writes import settled
from lily.api.receipts.receipt import Receipt, Stated
from lily.bus.producer import Position
from lily.model.errors import Problem
from lily.store.postgres.outbox.dead_letters import errors_at

DURABLE = "durable: it can be read in a moment"
APPLIED = "applied: it can be read now"


async def write(call: GrpcCall, entries: Sequence[Entry], stated: Stated | None = None) -> GenericMessage:
    """Entries of one key. Raises LogFull or LogUnavailable if the log does not take them all; then repeating the whole
    is harmless. Raises Declined with 422 where they were waited for, and the pipeline refused one."""
    wait = call.wait()
    positions = await call.services.log.append_together([(entry.topic, entry.key, entry.value) for entry in entries])
    count(call, entries)
    receipt = Receipt((max(positions),), stated, travels=True, correlation=call.correlation)  # one key is one partition
    applied = await settled(call, receipt, wait)
    call.show(receipt)
    if applied:
        await _refuse(call, positions)
    return GenericMessage(success=True, message=APPLIED if applied else DURABLE)


async def _refuse(call: GrpcCall, positions: Sequence[Position]) -> None:
    places = [(at.partition, at.offset) for at in positions]
    errors = await errors_at(call.services.database, call.tenant, positions[0].topic, places, 1)
    if errors:
        problem = Problem(errors[0]["code"], errors[0]["description"], errors[0]["entity"])
        raise Declined(422, problem)
