"""A bulk body takes turns with other requests, and ends when it is not worth reading on."""

import asyncio
import gzip
from contextlib import closing
from threading import current_thread
from typing import Any

import orjson
import pytest
from starlette.requests import Request

from lily.api.http.errors import Declined
from lily.api.ingest.bulk.capacity import WHOLE_BODIES, BulkCapacity
from lily.api.ingest.bulk.intake import BulkIntake
from lily.api.ingest.bulk.stream import TURN, stream
from lily.api.ingest.log_append import LogAppend
from lily.formats.json_array import JsonArray
from lily.formats.ndjson import Ndjson
from lily.formats.xlsx import Xlsx
from lily.model.errors import Problem, Refused
from lily.plugins import Format, Splitter
from lily.settings import Limits, Settings
from tests.unit.test_api_append import COLUMN, Log, call
from tests.workbooks import workbook


def read(body: bytes, format_: Format, limits: Limits | None = None, *, gzipped: bool = False) -> BulkIntake:
    """The body, in one chunk, through the whole intake."""

    async def story() -> BulkIntake:
        given = call(Log())
        given.services.bulk = BulkCapacity(8)
        given.services.settings = Settings(limits=limits or Limits())
        chunks = iter([gzip.compress(body) if gzipped else body])

        async def receive() -> dict[str, Any]:
            chunk = next(chunks, None)
            return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

        headers = [(b"content-encoding", b"gzip")] if gzipped else []
        given.request = Request({"type": "http", "headers": headers}, receive)
        intake = BulkIntake(given, LogAppend(given, wait_for_room=True))
        with closing(format_.splitter(1 << 20)) as splitter:
            await stream(given, intake, splitter)
        await intake.finish()
        given.services.bulk.close()
        return intake

    return asyncio.run(asyncio.wait_for(story(), 60))


@pytest.mark.parametrize(("body", "format_"), [(b"0\n" * 10_000, Ndjson()), (b"[" + b"," * 10_000, JsonArray())])
def test_other_requests_go_on_after_every_few_rows(
    body: bytes, format_: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = list[int]()

    async def sleep(_: float) -> None:
        turns.append(1)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    assert read(body, format_).rejected >= 10_000
    assert len(turns) >= 10_000 // TURN


def test_blank_lines_count_and_cost_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    added, add = list[object](), BulkIntake.add

    async def counted(intake: BulkIntake, row: Any) -> None:
        added.append(row)
        await add(intake, row)

    monkeypatch.setattr(BulkIntake, "add", counted)
    intake = read(b"\n" * 100_000 + b"0\n", Ndjson())
    assert [error["row"] for error in intake.errors] == [100_001]
    assert len(added) == 3


@pytest.mark.parametrize(("body", "format_"), [(b"0\n" * 10_000, Ndjson()), (b"[" + b"," * 10_000, JsonArray())])
def test_a_body_of_refused_rows_is_not_read_to_its_end(body: bytes, format_: Format) -> None:
    intake = read(body, format_, Limits(bulk_rejections=500, bulk_errors=20))
    assert (intake.accepted, intake.rejected, len(intake.errors)) == (0, 501, 20)
    last = intake.errors[-1]
    assert (last["row"], last["code"]) == (501, "TOO_MANY_REJECTED")
    assert "500 rows were refused" in last["description"]
    assert "the rows from here on were not read" in last["description"]
    assert intake.stopped is not None


def test_the_rows_before_the_stop_are_accepted() -> None:
    body = orjson.dumps(COLUMN) + b"\n" + b"0\n" * 10
    intake = read(body, Ndjson(), Limits(bulk_rejections=5))
    assert (intake.accepted, intake.rejected) == (1, 6)


def test_a_body_that_unpacks_to_nothing_but_newlines_is_refused() -> None:
    intake = read(b"\n" * (16 << 20), Ndjson(), gzipped=True)
    assert isinstance(intake.stopped, Declined)
    assert isinstance(intake.stopped, Refused)
    assert intake.stopped.status == 413
    assert [error["code"] for error in intake.errors] == ["TOO_LARGE"]


def test_a_tenant_has_a_limited_number_of_bodies_at_a_time() -> None:
    async def story() -> None:
        capacity = BulkCapacity(2)
        with capacity.admit("a"), pytest.raises(Refused, match="boom"), capacity.admit("a"):
            raise Refused(Problem("X", "boom"))  # a body that fails does not count any longer
        with capacity.admit("a"), capacity.admit("a"):
            with pytest.raises(Declined, match="2 bulk bodies of this tenant") as refused, capacity.admit("a"):
                pass
            assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "1"})
            with capacity.admit("b"):
                pass
        with capacity.admit("a"):
            pass
        capacity.close()

    asyncio.run(story())


def test_workbooks_are_read_in_threads_of_their_own_and_few_at_a_time() -> None:
    """Other formats do not wait for them."""
    reading, most = list[str](), list[int]()

    async def read_one(capacity: BulkCapacity) -> None:
        with closing(Xlsx().splitter(1)) as splitter:
            await read_with(capacity, splitter)

    async def read_with(capacity: BulkCapacity, splitter: Splitter) -> None:
        async with capacity.threads(splitter) as threads:
            assert threads is not None
            reading.append("workbook")
            most.append(len(reading))
            name = await asyncio.get_running_loop().run_in_executor(threads, lambda: current_thread().name)
            assert name.startswith("lily-whole-body")
            reading.pop()

    async def story() -> None:
        capacity = BulkCapacity(8)
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(read_one(capacity))
            async with capacity.threads(Ndjson().splitter(1)) as threads:
                assert threads is None
        capacity.close()

    asyncio.run(asyncio.wait_for(story(), 20))
    assert max(most) == WHOLE_BODIES


def test_a_workbook_goes_through_the_intake() -> None:
    assert read(workbook([["entity_type", "name"], ["table", "a"], ["table", "b"]]), Xlsx()).accepted == 2
