"""Waiting for a position, remembering a token, reading together: what many requests share."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest

from lily.api.auth.principals import Principals
from lily.api.receipts.waiter import Waiter
from lily.bus.producer import Position
from lily.model.access import Principal
from lily.model.errors import Transient
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.reader import AssetReader

AT = Position("t", 0, 5)


def run(what: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(what, 20))


class Log:
    """How far it is applied, and how often that was asked."""

    def __init__(self) -> None:
        self.applied = {("t", 0): 5}
        self.asked = 0
        self.down = False

    async def read(self) -> dict[tuple[str, int], int]:
        self.asked += 1
        if self.down:
            raise Transient("away")
        return dict(self.applied)


def test_a_waiter_wakes_when_its_position_is_applied() -> None:
    async def story() -> None:
        log = Log()
        waiter = Waiter(log.read)
        running = asyncio.create_task(waiter.run())
        waiting = [asyncio.create_task(waiter.reached([AT], 10)) for _ in range(50)]
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in waiting)
        log.applied["t", 0] = 6
        waiter.hear()
        assert all(await asyncio.gather(*waiting))
        assert log.asked <= 3
        assert await waiter.reached([AT], 0)
        assert not await waiter.reached([Position("t", 0, 6)], 0.05)
        assert not await waiter.reached([Position("other", 0, 0)], 0.05)
        running.cancel()

    run(story())


def test_a_lost_notification_or_a_lost_database_only_costs_time() -> None:
    async def story() -> None:
        log = Log()
        waiter = Waiter(log.read)
        running = asyncio.create_task(waiter.run())
        log.down = True
        waiting = asyncio.create_task(waiter.reached([AT], 15))
        await asyncio.sleep(0.1)
        log.applied["t", 0] = 6
        log.down = False
        assert await waiting
        running.cancel()

    run(story())


class Tokens:
    def __init__(self) -> None:
        self.good = {"good"}
        self.asked = 0
        self.answer = asyncio.Event()
        self.answer.set()

    async def look(self, _: bytes) -> Principal | None:
        self.asked += 1
        found = Principal("id", "tenant", "user", frozenset()) if self.good else None
        await self.answer.wait()
        return found


def test_a_token_is_asked_about_once_and_forgotten_when_access_changes() -> None:
    async def story() -> None:
        tokens = Tokens()
        principals = Principals(tokens.look)
        assert all(await asyncio.gather(*(principals.of("good") for _ in range(20))))
        assert tokens.asked == 1
        assert principals.known("good") is not None
        change = principals.next_change()
        tokens.good.clear()
        principals.forget()
        assert change.is_set()
        assert principals.known("good") is None
        assert await principals.of("good") is None

    run(story())


def test_an_answer_from_before_a_change_of_access_is_not_remembered() -> None:
    async def story() -> None:
        tokens = Tokens()
        principals = Principals(tokens.look)
        tokens.answer.clear()
        early = asyncio.create_task(principals.of("good"))
        await asyncio.sleep(0.01)
        tokens.good.clear()
        principals.forget()
        tokens.answer.set()
        await early
        assert principals.known("good") is None
        assert await principals.of("good") is None

    run(story())


class Assets(AssetReader):
    """A reader over rows in memory that takes a moment and counts its queries."""

    def __init__(self) -> None:
        super().__init__(None, None)  # type: ignore[arg-type]  # find_many is the only one to use them
        self.version = 1
        self.queries: list[int] = []
        self.fails = False

    async def find_many(self, tenant: str, asset_ids: Sequence[str]) -> dict[str, StoredAsset]:
        self.queries.append(len(asset_ids))
        version, fails = self.version, self.fails
        await asyncio.sleep(0.02)
        if fails:
            raise Transient("away")
        return {asset_id: _stored(tenant, version) for asset_id in asset_ids if asset_id != "missing"}


def _stored(tenant: str, version: int) -> StoredAsset:
    found = StoredAsset.__new__(StoredAsset)
    found.tenant, found.id = tenant, str(version)
    return found


def test_reads_that_arrive_during_a_query_are_answered_by_the_next_one() -> None:
    async def story() -> None:
        reader = Assets()
        first = reader.find("a", "0")
        await asyncio.sleep(0.005)
        reader.version = 2  # written while the first query runs: whoever reads from now on must see it
        later = [reader.find("a", str(number % 3)) for number in range(30)]
        other = reader.find("b", "0")
        missing = reader.find("a", "missing")
        assert (await first).id == "1"  # type: ignore[union-attr]
        assert {found.id for found in await asyncio.gather(*later) if found} == {"2"}
        assert (await other).tenant == "b"  # type: ignore[union-attr]
        assert await missing is None
        assert sorted(reader.queries) == [1, 1, 4]

    run(story())


def test_a_failed_query_fails_those_who_waited_and_no_one_else() -> None:
    async def story() -> None:
        reader = Assets()
        reader.fails = True
        found = [reader.find("a", "0"), reader.find("a", "1")]
        await asyncio.sleep(0.005)
        reader.fails = False
        later = reader.find("a", "2")
        for one in found:
            with pytest.raises(Transient):
                await one
        assert await later is not None

    run(story())
