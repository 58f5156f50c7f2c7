"""Appends a write to the log and answers it: at once, or when it can be read if the caller prefers to wait."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from lily.api.calls import Call
from lily.api.http.responses import Json
from lily.api.receipts.receipt import Receipt, Stated, standing
from lily.bus import topics
from lily.bus.producer import Position
from lily.model import clock
from lily.model.events import AssetEvent
from lily.model.statements import may_propagate
from lily.store.postgres.catalogue.history import EventOutcome, event_outcome
from lily.store.postgres.progress.propagated import Place, decision_to_follow, to_follow

RECEIPT = "Lily-Receipt"
PUBLISHING_SECONDS = 0.02  # the relay publishes a batch in about that


async def write(call: Call, event: AssetEvent) -> Json:
    """Raises LogFull or LogUnavailable if the log does not take it."""
    wait = call.wait()
    value = orjson.dumps(event.as_cloudevent())
    key = topics.key_of(event.tenant, event.asset_id)
    position = await call.services.log.append(topics.ASSETS, key, value)
    call.services.metrics.accepted["hot"].inc()
    call.services.metrics.bytes.inc(len(value))
    receipt = Receipt((position,), Stated.by(event), travels=may_propagate(event.statement))
    applied = await settled(call, receipt, wait)
    headers = receipt_headers(call, receipt, wait, applied=applied)
    accepted = {"status": "success", "metadata_id": event.asset_id}
    return await _told(call, receipt, accepted, headers) if applied else Json(accepted, 202, headers)


async def settled(call: Call, receipt: Receipt, wait: int | None) -> bool:
    """Whether a write can be read and has travelled, waiting for that at most so many seconds; without a preference
    nobody waits."""
    if wait is None:
        return False
    deadline = time.monotonic() + wait
    return await call.services.waiter.reached(receipt.positions, wait) and (
        not receipt.travels or await travelled(call, receipt, deadline)
    )


async def travelled(call: Call, receipt: Receipt, deadline: float) -> bool:
    """Whether propagation has caught up with a write that is applied, waiting for it until the deadline."""
    return await _followed(call, lambda: to_follow(call.services.database, receipt.positions), deadline)


async def decision_settled(call: Call) -> None:
    """Waits, if the caller prefers to, until what was just decided has travelled."""
    wait = call.wait()
    if wait is not None:
        deadline = time.monotonic() + wait
        await _followed(call, lambda: decision_to_follow(call.services.database, call.tenant), deadline)


async def _followed(call: Call, look: Callable[[], Awaitable[list[Place] | None]], deadline: float) -> bool:
    while (places := await look()) is None:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(PUBLISHING_SECONDS)
    positions = [Position(*place) for place in places]
    return await call.services.waiter.reached(positions, max(deadline - time.monotonic(), 0))


def receipt_headers(call: Call, receipt: Receipt, wait: int | None, *, applied: bool) -> dict[str, str]:
    """The receipt on every write; for one that waited in vain, also where to ask on."""
    sealed = receipt.seal(call.tenant)
    headers = {RECEIPT: sealed}
    if wait is not None:
        headers["Preference-Applied"] = f"wait={wait}"
        if not applied:
            headers["Location"] = f"/propagations/{sealed}"
    return headers


async def _told(call: Call, receipt: Receipt, accepted: dict[str, Any], headers: dict[str, str]) -> Json:
    outcome = await outcome_for(call, receipt)
    if outcome.errors is not None:
        return Json({"errors": outcome.errors}, 422, headers)
    return Json({**accepted, "superseded": is_superseded(receipt, outcome)}, 200, headers)


async def outcome_for(call: Call, receipt: Receipt) -> EventOutcome:
    """What became of a single write whose position has been applied."""
    stated = receipt.stated
    assert stated is not None  # noqa: S101 - only a bulk receipt names no asset, and it has no single outcome
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
