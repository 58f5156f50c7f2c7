"""The outcome of a single write that was applied: it is current, a newer event had won, or it was refused."""

from lily.api.calls import Call
from lily.api.receipts.receipt import Receipt, standing
from lily.model import clock
from lily.store.postgres.catalogue.history import EventOutcome, event_outcome


async def outcome_for(call: Call, receipt: Receipt) -> EventOutcome:
    stated = receipt.stated
    assert stated is not None  # noqa: S101 - only a receipt of many statements names no asset, and has no single outcome
    (position,) = receipt.positions
    return await event_outcome(
        call.services.database,
        call.tenant,
        asset_id=stated.asset_id,
        layer=stated.layer,
        event_id=stated.event_id,
        topic=position.topic,
        partition=position.partition,
        offset=position.offset,
    )


def is_superseded(receipt: Receipt, outcome: EventOutcome) -> bool:
    stated = receipt.stated
    return stated is not None and (outcome.layer is None or standing(outcome.layer, stated.clock) != stated.count)


def finished(outcome: EventOutcome) -> str | None:
    return clock.stamp(outcome.at) if outcome.at else None
