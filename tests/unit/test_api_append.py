"""The way into the log: what is confirmed is counted and receipted, what is not is reported."""

import asyncio
from collections.abc import Coroutine, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from lily.api.ingest.bulk.intake import BulkIntake
from lily.api.ingest.log_append import GROUP_BYTES, GROUP_RECORDS, UNCONFIRMED, LogAppend
from lily.api.ingest.records import Record, asset_record, bulk_asset_record
from lily.api.metrics import ApiMetrics
from lily.bus import topics
from lily.bus.producer import LogFull, LogUnavailable
from lily.model import ids
from lily.model.access import Principal
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.records import Position
from lily.model.statements import read_statement
from lily.settings import Settings
from tests.quotas import unlimited

COLUMN = {"entity_type": "column", "attributes": {"name": "id", "qualified_name": "shop.orders.id"}}


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 20))


class Log:
    """Confirms what it takes when it is told to, or at once; has room for so many records, or fails."""

    def __init__(self, room: int = 1_000_000, *, at_once: bool = True) -> None:
        self.room, self.at_once = room, at_once
        self.taken: list[int] = []
        self.unconfirmed: list[tuple[asyncio.Future[list[Position]], list[Position]]] = []
        self.most_unconfirmed = 0
        self.offset = 0

    def append(self, records: Sequence[tuple[str, bytes, bytes]]) -> asyncio.Future[list[Position]]:
        waiting = sum(len(positions) for _, positions in self.unconfirmed)
        if waiting + len(records) > self.room:
            raise LogFull("full")
        future: asyncio.Future[list[Position]] = asyncio.get_running_loop().create_future()
        positions = [Position(topic, len(key) % 2, self.offset + n) for n, (topic, key, _) in enumerate(records)]
        self.offset += len(records)
        self.taken.append(len(records))
        self.unconfirmed.append((future, positions))
        self.most_unconfirmed = max(self.most_unconfirmed, waiting + len(records))
        if self.at_once:
            asyncio.get_running_loop().call_soon(self.confirm)
        return future

    def confirm(self) -> None:
        future, positions = self.unconfirmed.pop(0)
        future.set_result(positions)

    def fail(self) -> None:
        self.unconfirmed.pop(0)[0].set_exception(LogUnavailable("not confirmed"))


class Unrestricted:
    """The policies of a tenant that denies nothing."""

    async def get(self, tenant: str) -> Any:
        return SimpleNamespace(tenant=tenant, denies_metadata=False)


def call(log: Log, wait: int | None = None) -> Any:
    metrics = ApiMetrics()
    services = SimpleNamespace(
        log=log, metrics=metrics, settings=Settings(), policies=Unrestricted(), quotas=unlimited(metrics)
    )
    principal = Principal("id", "t", "user", frozenset())
    return SimpleNamespace(services=services, principal=principal, tenant="t", correlation="mine", wait=lambda: wait)


def record(value: bytes = b"{}", *, key: bytes = b"k", propagates: bool = False) -> Record:
    return Record(topics.ASSETS, "hot", key, value, propagates)


def event(body: dict[str, Any]) -> AssetEvent:
    return AssetEvent(ids.event_id(), "2026-01-01T00:00:00.000000Z", "t", read_statement(body, tenant="t"))


def test_a_receipt_names_the_last_position_of_each_partition() -> None:
    async def story() -> None:
        log = Log()
        append = LogAppend(call(log))
        await append.add([record(key=b"a"), record(key=b"bb"), record(key=b"c"), record(key=b"d")])
        receipt = await append.receipt()
        assert receipt.positions == (Position(topics.ASSETS, 0, 1), Position(topics.ASSETS, 1, 3))
        assert (receipt.correlation, receipt.propagates, append.confirmed) == ("mine", False, 4)

    run(story())


def test_a_write_propagates_if_one_of_its_records_may() -> None:
    async def story() -> None:
        append = LogAppend(call(Log()))
        await append.add([record(), record(propagates=True), record()])
        assert (await append.receipt()).propagates

    run(story())


def test_only_what_the_log_confirmed_is_counted() -> None:
    async def story() -> None:
        log = Log(at_once=False)
        caller = call(log)
        append = LogAppend(caller)
        await append.add([record(b"four"), record(b"four")])
        accepted, size = caller.services.metrics.accepted["hot"], caller.services.metrics.bytes
        assert (accepted._value.get(), size._value.get()) == (0, 0)
        log.confirm()
        await append.receipt()
        assert (accepted._value.get(), size._value.get()) == (2, 8)
        await append.add([record()])
        log.fail()
        with pytest.raises(LogUnavailable):
            await append.receipt()
        assert accepted._value.get() == 2

    run(story())


def test_a_long_write_never_has_too_much_unconfirmed() -> None:
    async def story() -> None:
        log = Log()
        append = LogAppend(call(log), keep_positions=True)
        await append.add(record() for _ in range(3 * UNCONFIRMED + 1))
        await append.receipt()
        assert append.confirmed == len(append.positions) == 3 * UNCONFIRMED + 1
        assert log.most_unconfirmed <= UNCONFIRMED
        assert max(log.taken) == GROUP_RECORDS

    run(story())


def test_large_records_go_in_small_groups() -> None:
    async def story() -> None:
        log = Log()
        append = LogAppend(call(log))
        await append.add(record(b"x" * (GROUP_BYTES // 2)) for _ in range(5))
        await append.receipt()
        assert log.taken == [2, 2, 1]

    run(story())


def test_a_full_log_is_waited_for_only_while_own_records_are_on_their_way() -> None:
    async def story() -> None:
        append = LogAppend(call(Log(room=GROUP_RECORDS)))
        await append.add(record() for _ in range(5 * GROUP_RECORDS))
        await append.receipt()
        assert append.confirmed == 5 * GROUP_RECORDS
        with pytest.raises(LogFull):
            await LogAppend(call(Log(room=0))).add([record()])

    run(story())


def test_a_streamed_body_waits_for_room() -> None:
    async def story() -> None:
        log = Log(room=0)
        append = LogAppend(call(log), wait_for_room=True)
        adding = asyncio.create_task(append.add([record()]))
        await asyncio.sleep(0.05)
        assert not adding.done()
        log.room = 1
        await adding
        assert len((await append.receipt()).positions) == 1

    run(story())


def test_a_bad_preference_to_wait_is_refused_before_anything_is_appended() -> None:
    def refuse() -> int | None:
        raise Refused(Problem("INVALID_VALUE", "so", "Prefer"))

    caller = call(Log())
    caller.wait = refuse
    with pytest.raises(Refused):
        LogAppend(caller)


def test_a_single_write_is_hot_and_a_plain_column_in_bulk_is_not() -> None:
    plain = event(COLUMN)
    tagged = event(COLUMN | {"attributes": {**COLUMN["attributes"], "tags": ["PII"]}})  # type: ignore[dict-item]
    assert (asset_record(plain).topic, asset_record(plain).lane) == (topics.ASSETS, "hot")
    assert (bulk_asset_record(plain).topic, bulk_asset_record(plain).lane) == (topics.ASSETS_BULK, "bulk")
    assert bulk_asset_record(tagged).topic == topics.ASSETS
    assert (bulk_asset_record(plain).propagates, bulk_asset_record(tagged).propagates) == (False, True)


def row(number: int) -> bytes:
    return b'{"entity_type": "table", "attributes": {"name": "t%d"}}' % number


def test_rows_that_the_log_did_not_confirm_are_named_and_later_ones_are_not_tried() -> None:
    async def story() -> None:
        log = Log(at_once=False)
        caller = call(log)
        intake = BulkIntake(caller, LogAppend(caller, wait_for_room=True))
        for number in (1, 2):
            await intake.add(row(number))
        await intake.add(b"{ no json")
        await intake.flush()
        await intake.add(row(4))
        await intake.flush()
        log.confirm()
        log.fail()
        await intake.finish()
        await intake.add(row(5))
        await intake.finish()
        assert (intake.accepted, intake.rejected, intake.log_failed) == (2, 3, True)
        assert [(error["row"], error["code"]) for error in intake.errors] == [
            (3, "MALFORMED_JSON"),
            (4, "LOG_UNAVAILABLE"),
            (5, "LOG_UNAVAILABLE"),
        ]
        assert log.taken == [2, 1]

    run(story())
