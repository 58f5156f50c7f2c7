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
    call.parts.watch.accepted["hot"].inc()
    call.parts.watch.bytes.inc(len(value))
    receipt = Receipt((position,), Stated.by(event))
    applied = wait is not None and await call.parts.waiter.reached(receipt.positions, wait)
    headers = receipt_headers(call, receipt, wait, applied=applied)
    accepted = {"status": "success", "metadata_id": event.asset_id}
    return await _settled(call, receipt, accepted, headers) if applied else Json(accepted, 202, headers)


def receipt_headers(call: Call, receipt: Receipt, wait: int | None, *, applied: bool) -> dict[str, str]:
    """The receipt on every write; for one that waited in vain, also where to ask on."""
    sealed = receipt.seal(call.tenant)
    headers = {RECEIPT: sealed}
    if wait is not None:
        headers["Preference-Applied"] = f"wait={wait}"
        if not applied:
            headers["Location"] = f"/propagations/{sealed}"
    return headers


async def _settled(call: Call, receipt: Receipt, accepted: dict[str, Any], headers: dict[str, str]) -> Json:
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
