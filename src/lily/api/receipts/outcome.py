"""What became of a single write that has been applied: it stands, something newer had won, or it was refused."""

from lily.api.calls import Call
from lily.api.receipts.receipt import Receipt, standing
from lily.model import clock
from lily.store.postgres.catalogue.history import Outcome, outcome_of


async def outcome_for(call: Call, receipt: Receipt) -> Outcome:
    stated = receipt.stated
    assert stated is not None  # noqa: S101 - only a receipt of many statements names no asset, and has no single outcome
    (position,) = receipt.positions
    return await outcome_of(
        call.services.database,
        call.tenant,
        asset_id=stated.asset_id,
        layer=stated.layer,
        event_id=stated.event_id,
        topic=position.topic,
        partition=position.partition,
        offset=position.offset,
    )


def is_superseded(receipt: Receipt, outcome: Outcome) -> bool:
    stated = receipt.stated
    return stated is not None and (outcome.layer is None or standing(outcome.layer, stated.clock) != stated.count)


def finished(outcome: Outcome) -> str | None:
    return clock.stamp(outcome.at) if outcome.at else None
