"""What a listener that resumes is sent. The log is replaced by records in memory, of two tenants."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import orjson
import pytest
from prometheus_client import Gauge

from lily.api.websocket import hub as module
from lily.api.websocket.hub import NEAR, TOPICS, Hub, Listener
from lily.api.websocket.messages import MessageFilter, unseal_position
from lily.brokers import Brokers
from lily.bus import topics
from lily.bus.changefeed import PositionLost
from lily.bus.offsets import Offsets
from lily.model.records import ConsumedRecord

BEGINNING: Offsets = {(topic, 0): 0 for topic in TOPICS}
EVERYTHING = MessageFilter()


def changed(tenant: str, offset: int, kind: str = "created") -> ConsumedRecord:
    data = {"metadata_id": f"{tenant}-{offset}", "entity_type": "table", "change": kind}
    event = {"id": f"change-{offset}", "time": "t", "data": data}
    return ConsumedRecord(topics.METADATA, 0, offset, f"{tenant}/a".encode(), orjson.dumps(event))


def hub_at(monkeypatch: pytest.MonkeyPatch, past: Sequence[ConsumedRecord]) -> Hub:
    """A hub whose live feed has passed these records, which a replay reads again."""

    async def read(_: Brokers, at: Offsets, end: Offsets) -> AsyncIterator[list[ConsumedRecord]]:
        first, last = at[topics.METADATA, 0], end[topics.METADATA, 0]
        yield [record for record in past if first <= record.offset < last]

    monkeypatch.setattr(module, "replay", read)
    hub = Hub(Brokers(""), Gauge("followers", "", registry=None), 8)
    hub._offsets = BEGINNING | {(topics.METADATA, 0): len(past)}
    return hub


def sent(
    hub: Hub, *live: ConsumedRecord, since: Offsets | None = BEGINNING, wanted: MessageFilter = EVERYTHING
) -> list[dict[str, Any]]:
    """The messages for a listener of the tenant `north`: from a position on, then while `live` is delivered."""
    found: list[dict[str, Any]] = []

    async def collect() -> None:
        async with aclosing(hub.messages(Listener("north", wanted), since)) as batches:
            async for batch in batches:
                found.extend(orjson.loads(message.text) for message in batch)

    async def story() -> None:
        collecting = asyncio.create_task(collect())
        await _turns(collecting)
        await hub._deliver(list(live))
        await _turns(collecting)
        collecting.cancel()
        (outcome,) = await asyncio.gather(collecting, return_exceptions=True)
        if not isinstance(outcome, asyncio.CancelledError):
            raise outcome if isinstance(outcome, BaseException) else AssertionError("a listener hears for ever")

    asyncio.run(story())
    return found


async def _turns(task: asyncio.Task[None]) -> None:
    """Nothing in memory waits, so a few turns of the loop are all that it needs."""
    for _ in range(50):
        if not task.done():
            await asyncio.sleep(0)


def assets(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [message["metadata_id"] for message in messages]


def test_the_past_of_another_tenant_is_not_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = hub_at(monkeypatch, [changed("south", 0), changed("north", 1), changed("south", 2)])
    assert assets(sent(hub)) == ["north-1"]


def test_the_far_past_of_another_tenant_is_not_replayed_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """A listener that is far behind is served by the other of the two replays."""
    past = [changed("south" if offset % 2 else "north", offset) for offset in range(NEAR + 2)]
    found = assets(sent(hub_at(monkeypatch, past)))
    assert found == [f"north-{offset}" for offset in range(0, NEAR + 2, 2)]


def test_the_past_is_followed_by_the_live_feed_without_a_gap_or_a_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = hub_at(monkeypatch, [changed("north", 0), changed("north", 1)])
    found = sent(hub, changed("south", 2), changed("north", 3), since=BEGINNING | {(topics.METADATA, 0): 1})
    assert assets(found) == ["north-1", "north-3"]
    assert [unseal_position(message["position"])[topics.METADATA, 0] for message in found] == [2, 4]


def test_without_a_position_only_what_comes_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = hub_at(monkeypatch, [changed("north", 0)])
    assert assets(sent(hub, changed("south", 1), changed("north", 2), since=None)) == ["north-2"]


def test_the_filter_of_a_listener_holds_for_the_past_too(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = hub_at(monkeypatch, [changed("north", 0), changed("north", 1, "deleted")])
    assert assets(sent(hub, wanted=MessageFilter(changes=frozenset({"deleted"})))) == ["north-1"]


def test_a_partition_that_is_newer_than_the_position_is_read_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = hub_at(monkeypatch, [changed("north", 0)])
    resumed = hub._resumed({(topics.METADATA, 1): 7})
    assert resumed == {(topics.METADATA, 0): 0, (topics.NOTIFICATIONS, 0): 0}
    hub._offsets[topics.NOTIFICATIONS, 0] = 9
    assert hub._resumed({(topics.METADATA, 0): 1})[topics.NOTIFICATIONS, 0] == 9, "older positions do not name it"


def test_a_position_that_the_log_does_not_have_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AHEAD_SECONDS", 0.01)
    hub = hub_at(monkeypatch, [changed("north", 0)])

    async def resume() -> None:
        async with aclosing(hub.messages(Listener("north", EVERYTHING), {(topics.METADATA, 0): 2})) as batches:
            await anext(batches)

    with pytest.raises(PositionLost, match="ahead of the log"):
        asyncio.run(resume())


def test_a_listener_that_is_gone_is_no_longer_served(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = hub_at(monkeypatch, [])
    assert assets(sent(hub, changed("north", 0))) == ["north-0"]
    assert hub._listeners == {}
