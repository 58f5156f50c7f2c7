"""Appends a write to the log and answers it: at once, or when it can be read if the caller prefers to wait."""

from typing import Any

import orjson

from lily.api.answers import Json
from lily.api.calls import Call
from lily.api.prefer import wait_of
from lily.api.receipts import Receipt, Stated, standing
from lily.bus import topics
from lily.model import clock
from lily.model.events import AssetEvent
from lily.store.postgres.history import Outcome, outcome_of

RECEIPT = "Lily-Receipt"


async def write(call: Call, event: AssetEvent) -> Json:
    """Raises LogFull or LogUnavailable if the log does not take it."""
    wait = wait_of(call.request.headers, call.parts.settings.limits.wait_seconds)
    value = orjson.dumps(event.as_cloudevent())
    key = topics.key_of(event.tenant, event.asset_id)
    position = await call.parts.log.append(topics.ASSETS, key, value)
    call.parts.watch.accepted.inc()
    call.parts.watch.bytes.inc(len(value))
    receipt = Receipt((position,), Stated.by(event))
    accepted = {"status": "success", "metadata_id": event.asset_id}
    if wait is None:
        return Json(accepted, 202, {RECEIPT: receipt.seal(call.tenant)})
    return await _answer_applied(call, receipt, accepted, wait)


def receipt_headers(call: Call, receipt: Receipt, wait: int | None) -> dict[str, str]:
    """What every waiting write answers with: the receipt, where to ask about it, and that waiting was understood."""
    sealed = receipt.seal(call.tenant)
    if wait is None:
        return {RECEIPT: sealed}
    return {RECEIPT: sealed, "Location": f"/propagations/{sealed}", "Preference-Applied": f"wait={wait}"}


async def _answer_applied(call: Call, receipt: Receipt, accepted: dict[str, Any], wait: int) -> Json:
    headers = receipt_headers(call, receipt, wait)
    if not await call.parts.waiter.reached(receipt.positions, wait):
        return Json(accepted, 202, headers)
    outcome = await outcome_for(call, receipt)
    if outcome.errors is not None:
        return Json({"errors": outcome.errors}, 422, headers)
    return Json({**accepted, "superseded": is_superseded(receipt, outcome)}, 200, headers)


async def outcome_for(call: Call, receipt: Receipt) -> Outcome:
    """What became of a single write whose position has been applied."""
    stated = receipt.stated
    assert stated is not None  # noqa: S101 - only a bulk receipt names no asset, and it has no single outcome
    (position,) = receipt.positions
    return await outcome_of(
        call.parts.database,
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
