"""The shares of tenants in the hub. The log is replaced: what is tested is who may connect, not what they receive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge

from lily.api.http.errors import Declined
from lily.api.websocket import hub as module
from lily.api.websocket.hub import NEAR, TOPICS, Hub, Listener, Outgoing, TooManyReplays
from lily.api.websocket.messages import MessageFilter
from lily.brokers import Brokers
from lily.model.records import ConsumedRecord

END = {(topic, 0): NEAR * 10 for topic in TOPICS}
OLD = {(topic, 0): 0 for topic in TOPICS}


class QuietFeed:
    def __init__(self, *_: Any) -> None:
        pass

    async def start(self) -> dict[tuple[str, int], int]:
        return dict(END)

    async def stop(self) -> None:
        pass


async def endless(*_: Any) -> AsyncIterator[list[ConsumedRecord]]:
    """A replay that has not reached its end."""
    while True:
        await asyncio.sleep(0.01)
        yield []


@pytest.fixture(autouse=True)
def _quiet_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Changefeed", QuietFeed)
    monkeypatch.setattr(module, "replay", endless)


def hub_of(replays: int = 8) -> Hub:
    return Hub(Brokers(""), Gauge("connections", "of the test", registry=CollectorRegistry()), replays)


def test_a_tenant_has_a_limited_number_of_connections() -> None:
    async def run() -> None:
        hub = hub_of()
        async with AsyncExitStack() as open_connections:
            await open_connections.enter_async_context(hub.following("north", 2))
            await open_connections.enter_async_context(hub.following("north", 2))
            with pytest.raises(Declined, match="TOO_MANY_CONNECTIONS") as caught:
                await open_connections.enter_async_context(hub.following("north", 2))
            assert (caught.value.status, "Retry-After" in caught.value.headers) == (429, True)
            await open_connections.enter_async_context(hub.following("south", 2))
        async with hub.following("north", 2):
            pass

    asyncio.run(run())


def test_a_tenant_has_a_limited_number_of_listeners_in_the_past() -> None:
    async def first(hub: Hub, tenant: str, since: dict[tuple[str, int], int]) -> list[Outgoing]:
        async with aclosing(hub.messages(Listener(tenant, MessageFilter.of(tenant, {})), since)) as messages:
            return await anext(messages)

    async def run() -> None:
        hub = hub_of(replays=1)
        async with hub.following("north", 2):
            replaying = asyncio.create_task(first(hub, "north", OLD))
            await asyncio.sleep(0)
            with pytest.raises(TooManyReplays, match="later"):
                await first(hub, "north", OLD)
            others = [asyncio.create_task(first(hub, *who)) for who in (("north", dict(END)), ("south", OLD))]
            await asyncio.wait(others, timeout=0.2)
            assert not any(task.done() for task in (replaying, *others))  # admitted, and waiting for messages
            for task in (replaying, *others):
                task.cancel()
            await asyncio.gather(replaying, *others, return_exceptions=True)
            again = asyncio.create_task(first(hub, "north", OLD))
            await asyncio.wait([again], timeout=0.2)
            assert not again.done()
            again.cancel()
            await asyncio.gather(again, return_exceptions=True)

    asyncio.run(run())
