"""Many events: in batches, within bounded memory, each row accounted for."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import count
from typing import Any

import orjson
import pytest

from lily.client import AsyncLily, BulkResult, Lily, Retry, Unavailable
from lily.client.bulk import BATCH_BYTES, KEPT_ERRORS, Bulk
from tests.badserver import BadServer, Reply, bad_server, drop

QUICK = Retry(attempts=3, seconds=20, first_pause=0.001, longest_pause=0.01)


def event(number: int) -> dict[str, Any]:
    return {"entity_type": "table", "attributes": {"name": f"t{number}"}}


def answer(accepted: int, *refused: tuple[int, str], status: int = 202) -> Reply:
    errors = [{"row": row, "code": code, "description": "why", "entity": "e"} for row, code in refused]
    return Reply(status, {"accepted": accepted, "rejected": len(refused), "errors": errors})


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as served:
        yield served


@pytest.fixture
def lily(server: BadServer) -> Iterator[Lily]:
    with Lily(server.url, "secret", retry=QUICK) as client:
        yield client


def test_events_go_out_in_batches_as_lines_of_json_each_stamped(server: BadServer, lily: Lily) -> None:
    server.will(answer(2), answer(2), answer(1))
    result = lily.ingest_many([event(n) for n in range(5)], batch=2)
    assert [len(asked.rows) for asked in server.asked] == [2, 2, 1]
    assert {asked.headers["content-type"] for asked in server.asked} == {"application/x-ndjson"}
    assert all(row["time"].endswith("Z") for asked in server.asked for row in asked.rows)
    assert (result.accepted, result.rejected, result.readable) == (5, 0, False)


def test_an_endless_stream_is_read_no_further_than_the_batch_being_sent(server: BadServer, lily: Lily) -> None:
    taken: list[int] = []

    def endless() -> Iterator[dict[str, Any]]:
        for number in count():
            taken.append(number)
            yield event(number)

    def stop_at_thirty(so_far: BulkResult) -> None:
        if so_far.accepted >= 30:
            raise KeyboardInterrupt

    server.will(answer(10))
    with pytest.raises(KeyboardInterrupt):
        lily.ingest_many(endless(), batch=10, on_progress=stop_at_thirty)
    assert len(taken) == 30


def test_refused_rows_are_numbered_over_everything_that_was_sent(server: BadServer, lily: Lily) -> None:
    server.will(answer(1, (2, "MISSING_FIELD")), answer(0, (1, "INVALID_TYPE"), (2, "INVALID_TYPE")))
    result = lily.ingest_many([event(n) for n in range(4)], batch=2)
    assert [(error.row, error.code) for error in result.errors] == [
        (2, "MISSING_FIELD"),
        (3, "INVALID_TYPE"),
        (4, "INVALID_TYPE"),
    ]
    assert (result.accepted, result.rejected) == (1, 3)


def test_a_row_that_no_json_can_say_is_refused_in_its_place(server: BadServer, lily: Lily) -> None:
    server.will(answer(1, (3, "MISSING_FIELD")))
    result = lily.ingest_many([event(1), {"attributes": {1, 2}}, {}])
    assert server.asked[0].body.splitlines()[1] == b"", "the blank line keeps the server's count true"
    assert [(error.row, error.code) for error in result.errors] == [(2, "INVALID_TYPE"), (3, "MISSING_FIELD")]
    assert result.rejected == 2


def test_a_batch_is_sent_again_as_it_was_when_the_connection_or_the_log_gives_out(
    server: BadServer, lily: Lily
) -> None:
    server.will(drop, answer(1, (2, "LOG_UNAVAILABLE")), answer(2))
    result = lily.ingest_many([event(1), event(2)])
    assert (result.accepted, result.rejected) == (2, 0)
    assert len({asked.body for asked in server.asked}) == 1
    server.will(answer(1, (2, "LOG_UNAVAILABLE")))
    with pytest.raises(Unavailable):
        lily.ingest_many([event(1), event(2)])


def test_all_is_readable_only_if_every_batch_was(server: BadServer, lily: Lily) -> None:
    server.will(answer(1, status=200))
    assert lily.ingest_many([event(1), event(2)], batch=1, wait=5).readable
    assert server.asked[0].headers["prefer"] == "wait=5"
    server.will(answer(1, status=200), answer(1, status=202))
    assert not lily.ingest_many([event(1), event(2)], batch=1, wait=5).readable


def test_nothing_to_send_sends_nothing(server: BadServer, lily: Lily) -> None:
    assert lily.ingest_many([]).accepted == 0
    assert lily.ingest_many([{"attributes": {1}}]).rejected == 1
    assert server.asked == []


def test_the_asynchronous_client_takes_either_kind_of_iterable(server: BadServer) -> None:
    async def stream() -> AsyncIterator[dict[str, Any]]:
        for number in range(3):
            yield event(number)

    async def send() -> list[int]:
        async with AsyncLily(server.url, "secret", retry=QUICK) as lily:
            one = await lily.ingest_many(stream(), batch=2)
            other = await lily.ingest_many([event(0)], batch=2)
        return [one.accepted, other.accepted]

    server.will(answer(2), answer(1), answer(1))
    assert asyncio.run(send()) == [3, 1]


def test_a_batch_is_bounded_in_bytes_too() -> None:
    bulk = Bulk(batch=1_000_000)
    large = {"entity_type": "table", "attributes": {"name": "x", "description": "y" * (1 << 20)}}
    bodies = [body for body in (bulk.add(large) for _ in range(40)) if body is not None]
    assert bodies
    assert max(map(len, bodies)) < BATCH_BYTES + (2 << 20)


def test_endless_errors_are_counted_and_not_all_kept() -> None:
    bulk = Bulk()
    for _ in range(KEPT_ERRORS + 500):
        bulk.add({"attributes": {1}})
    assert (bulk.result.rejected, len(bulk.result.errors)) == (KEPT_ERRORS + 500, KEPT_ERRORS)


def test_a_time_that_was_stated_is_kept() -> None:
    bulk = Bulk(batch=1)
    body = bulk.add({**event(1), "time": "2026-01-01T00:00:00Z"})
    assert body is not None
    assert orjson.loads(body)["time"] == "2026-01-01T00:00:00Z"
