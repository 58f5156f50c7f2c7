"""Waiting for a position, remembering a token, reading together: what many requests share."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lily.api.auth.principals import LookUp, Principals
from lily.api.metrics import ApiMetrics
from lily.api.receipts import coalesced_wait
from lily.api.receipts.waiter import Waiter
from lily.model.access import Principal
from lily.model.errors import Transient
from lily.model.records import Position
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.reader import AssetReader
from tests.quotas import any_failures

AT = Position("t", 0, 5)


def run(what: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(what, 20))


class Log:
    """How far it is applied and published, and how often each was read."""

    def __init__(self) -> None:
        self.offsets = {("t", 0): 5}
        self.changes: dict[tuple[Position, ...], tuple[Position, ...]] = {}
        self.decisions: dict[str, tuple[Position, ...]] = {}
        self.parked = {"north"}
        self.reads = 0
        self.down = False

    async def applied(self) -> dict[tuple[str, int], int]:
        self._read()
        return dict(self.offsets)

    async def published(self, writes: Collection[tuple[Position, ...]]) -> dict[tuple[Position, ...], Any]:
        self._read()
        await asyncio.sleep(0.01)
        return {write: self.changes[write] for write in writes if write in self.changes}

    async def decisions_published(self, tenants: Collection[str]) -> dict[str, tuple[Position, ...]]:
        self._read()
        return {tenant: self.decisions[tenant] for tenant in tenants if tenant in self.decisions}

    async def unparked(self, tenants: Collection[str]) -> dict[str, bool]:
        self._read()
        return {tenant: True for tenant in tenants if tenant not in self.parked}

    def _read(self) -> None:
        self.reads += 1
        if self.down:
            raise Transient("away")


@asynccontextmanager
async def running(log: Log) -> AsyncIterator[Waiter]:
    waiter = Waiter(log)
    task = asyncio.create_task(waiter.run())
    yield waiter
    assert not task.done()
    task.cancel()


def test_a_waiter_wakes_when_its_position_is_applied() -> None:
    async def story() -> None:
        log = Log()
        async with running(log) as waiter:
            waiting = [asyncio.create_task(waiter.applied([AT], 10)) for _ in range(50)]
            await asyncio.sleep(0.05)
            assert not any(task.done() for task in waiting)
            log.offsets["t", 0] = 6
            waiter.applied_notified()
            assert all(await asyncio.gather(*waiting))
            assert log.reads <= 3
            assert await waiter.applied([AT], 0)
            assert not await waiter.applied([Position("t", 0, 6)], 0.05)
            assert not await waiter.applied([Position("other", 0, 0)], 0.05)

    run(story())


def test_a_lost_notification_or_a_lost_database_only_costs_time() -> None:
    async def story() -> None:
        log = Log()
        async with running(log) as waiter:
            log.down = True
            applied = asyncio.create_task(waiter.applied([AT], 15))
            published = asyncio.create_task(waiter.published([AT], 15))
            await asyncio.sleep(0.1)
            log.offsets["t", 0] = 6
            log.changes[AT,] = (Position("changes", 0, 1),)
            log.down = False
            assert await applied
            assert await published == (Position("changes", 0, 1),)

    run(story())


def test_many_writes_that_wait_for_the_relay_share_one_read_per_notification() -> None:
    async def story() -> None:
        log = Log()
        async with running(log) as waiter:
            places = [Position("t", 0, offset) for offset in range(200)]
            waiting = [asyncio.create_task(waiter.published([place], 10)) for place in places]
            await asyncio.sleep(0.05)
            assert log.reads <= 2
            log.changes = {(place,): (place,) for place in places[:100]}
            waiter.published_notified()
            assert await asyncio.gather(*waiting[:100]) == [(place,) for place in places[:100]]
            assert not any(task.done() for task in waiting[100:])
            log.changes = {(place,): (place,) for place in places}
            waiter.published_notified()
            waiter.published_notified()
            assert await asyncio.gather(*waiting[100:]) == [(place,) for place in places[100:]]
            assert log.reads <= 5

    run(story())


def test_a_write_that_was_published_before_it_is_asked_about_does_not_wait_for_a_notification() -> None:
    async def story() -> None:
        log = Log()
        log.changes[AT,] = ()
        async with running(log) as waiter:
            waiter.published_notified()
            await asyncio.sleep(0.05)
            assert log.reads == 0
            assert await waiter.published([AT], 10) == ()
            assert log.reads == 1

    run(story())


def test_a_decision_is_waited_for_by_tenant() -> None:
    async def story() -> None:
        log = Log()
        async with running(log) as waiter:
            north, south = (asyncio.create_task(waiter.decision_published(tenant, 10)) for tenant in ("north", "south"))
            await asyncio.sleep(0.05)
            log.decisions["north"] = (AT,)
            waiter.published_notified()
            assert await north == (AT,)
            assert not south.done()
            assert await waiter.decision_published("west", 0.05) is None
            south.cancel()

    run(story())


def test_requests_of_a_parked_tenant_wait_until_its_events_are_handled() -> None:
    async def story() -> None:
        log = Log()
        async with running(log) as waiter:
            assert await waiter.unparked("south", 10)
            waiting = [asyncio.create_task(waiter.unparked("north", 10)) for _ in range(50)]
            await asyncio.sleep(0.05)
            assert not any(task.done() for task in waiting)
            log.parked.clear()
            waiter.applied_notified()
            assert all(await asyncio.gather(*waiting))
            assert log.reads <= 5

    run(story())


@pytest.fixture
def no_safety_net(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read again but for a question or a notification."""
    monkeypatch.setattr(coalesced_wait, "SAFETY_SECONDS", 3_600.0)


@pytest.mark.usefixtures("no_safety_net")
def test_a_notification_alone_wakes_every_kind_of_question() -> None:
    async def story() -> None:
        log = Log()
        async with running(log) as waiter:
            asked = (
                waiter.applied([AT], 10),
                waiter.unparked("north", 10),
                waiter.published([AT], 10),
                waiter.decision_published("north", 10),
            )
            waiting = [asyncio.create_task(question) for question in asked]
            await asyncio.sleep(0.05)
            assert not any(task.done() for task in waiting)
            log.offsets["t", 0] = 6
            log.parked.clear()
            log.changes[AT,] = log.decisions["north"] = (AT,)
            waiter.applied_notified()
            waiter.published_notified()
            assert await asyncio.gather(*waiting) == [True, True, (AT,), (AT,)]

    run(story())


@pytest.mark.usefixtures("no_safety_net")
def test_a_notification_during_a_read_leads_to_another_read() -> None:
    async def story() -> None:
        read, answered = asyncio.Event(), asyncio.Event()
        committed: dict[str, bool] = {}

        async def slow(_: Collection[str]) -> dict[str, bool]:
            seen = dict(committed)
            read.set()
            await answered.wait()
            return seen

        questions = coalesced_wait.CoalescedWait[str, bool](slow)
        answering = asyncio.create_task(questions.run())
        waiting = asyncio.create_task(questions.wait("written", 10))
        await read.wait()
        committed["written"] = True
        questions.notify()
        answered.set()
        assert await waiting
        answering.cancel()

    run(story())


def principals_of(look_up: LookUp, would_be_notified: Callable[[], bool]) -> Principals:
    return Principals(look_up, would_be_notified, any_failures(ApiMetrics()))


class Tokens:
    def __init__(self) -> None:
        self.good = {"good"}
        self.look_ups = 0
        self.ready = asyncio.Event()
        self.ready.set()

    async def look_up(self, _: str) -> Principal | None:
        self.look_ups += 1
        principal = Principal("id", "tenant", "user", frozenset()) if self.good else None
        await self.ready.wait()
        return principal


def test_a_token_is_looked_up_once_and_again_after_access_changed() -> None:
    async def story() -> None:
        tokens = Tokens()
        principals = principals_of(tokens.look_up, lambda: True)
        assert all(await asyncio.gather(*(principals.of("good", None) for _ in range(20))))
        assert tokens.look_ups == 1
        assert principals.cached("good") is not None
        change = principals.next_change()
        tokens.good.clear()
        principals.invalidate()
        assert change.is_set()
        assert principals.cached("good") is None
        assert await principals.of("good", None) is None

    run(story())


def test_nothing_cached_is_used_while_notifications_may_be_missing() -> None:
    async def story() -> None:
        tokens, connected = Tokens(), [True]
        principals = principals_of(tokens.look_up, lambda: connected[0])
        assert await principals.of("good", None)
        connected[0] = False
        tokens.good.clear()  # and no notification of it arrives
        assert principals.cached("good") is None
        assert await principals.of("good", None) is None

    run(story())


def test_a_cached_principal_is_not_used_after_its_token_has_expired() -> None:
    async def story() -> None:
        expiries = [time.time() + 3600, time.time() - 1]

        async def look_up(_: str) -> Principal:
            return Principal("id", "tenant", "user", frozenset(), expires_at=expiries.pop(0))

        principals = principals_of(look_up, lambda: True)
        assert await principals.of("good", None)
        assert principals.cached("good") is not None
        principals.invalidate()
        assert await principals.of("good", None)
        assert principals.cached("good") is None

    run(story())


def test_a_look_up_from_before_a_change_of_access_is_not_cached() -> None:
    async def story() -> None:
        tokens = Tokens()
        principals = principals_of(tokens.look_up, lambda: True)
        tokens.ready.clear()
        early = asyncio.create_task(principals.of("good", None))
        await asyncio.sleep(0.01)
        tokens.good.clear()
        principals.invalidate()
        tokens.ready.set()
        await early
        assert principals.cached("good") is None
        assert await principals.of("good", None) is None

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
