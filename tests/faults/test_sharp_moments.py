"""The moments in which a crash is most tempting to get wrong, each hit on purpose, against real engines."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random
from typing import Any, LiteralString

import orjson
import psycopg
import pyarrow as pa
import pytest

from lily.bus import topics
from lily.bus.topics import key_of
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.pipeline import connections
from lily.pipeline.hot.task import apply_partition
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests.faults.conftest import TENANT
from tests.faults.evidence import read_topic
from tests.faults.own_stack import OwnStack
from tests.faults.phrases import Speaker
from tests.faults.victims import backend

pytestmark = pytest.mark.faults

PATIENCE_SECONDS = 30.0


@pytest.fixture(scope="module", autouse=True)
def _no_connection_is_left() -> Iterator[None]:
    """A Spark worker keeps its store for as long as it lives; here the test is the worker."""
    yield
    connections.CATALOGUES.close()


def test_a_relay_killed_between_publishing_and_marking_repeats_and_loses_nothing(
    engines: OwnStack, pipeline_database: str
) -> None:
    positions = _commit_changes(pipeline_database, events=50)
    with psycopg.connect(engines.database) as holder:
        holder.execute("select from batches for update")  # so the relay can publish, and cannot mark
        with _relay(engines, pipeline_database) as relay:
            _until(lambda: _waits_for_a_lock(engines.database, "lily-relay"))
            relay.kill()
        _drop_connections(engines.database, "lily-relay")  # else PostgreSQL would mark for the dead
        holder.rollback()
    assert _published(engines).keys() >= positions
    assert _one(engines.database, "select count(*) from batches where published_at is null") > 0

    with _relay(engines, pipeline_database):
        _until(lambda: _one(engines.database, "select count(*) from batches where published_at is null") == 0)
    published = _published(engines)
    assert {published[position] for position in positions} == {2}
    assert published.keys() == positions


def test_a_relay_waits_while_another_has_the_turn_and_takes_over_when_that_one_is_killed(
    engines: OwnStack, pipeline_database: str
) -> None:
    with _relay(engines, pipeline_database) as first:
        _until(lambda: _relays(engines.database) == 1)
        _until(lambda: _one(engines.database, "select count(*) from pg_locks where locktype = 'advisory'") == 1)
        with _relay(engines, pipeline_database):
            _until(lambda: _relays(engines.database) == 2)
            first.kill()
            first.wait()
            positions = _commit_changes(pipeline_database, events=20)
            _until(lambda: _published(engines).keys() >= positions)


def test_a_batch_whose_connection_died_since_the_last_one_is_applied_on_a_new_one(
    engines: OwnStack, pipeline_database: str
) -> None:
    first, second = _records(10), _records(10)
    _apply(first, pipeline_database)
    _drop_connections(engines.database, "lily-pipeline")
    _apply(second, pipeline_database)
    assert _next_offset(engines.database) == second[-1].offset + 1


def test_a_batch_waits_for_a_postgresql_that_recovers_from_a_killed_backend(
    engines: OwnStack, pipeline_database: str
) -> None:
    first, second = _records(10), _records(10)
    _apply(first, pipeline_database)
    victim = backend(engines)
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    _apply(second, pipeline_database)
    assert _next_offset(engines.database) == second[-1].offset + 1


def test_a_batch_whose_connection_dies_in_its_midst_is_applied_once(engines: OwnStack, pipeline_database: str) -> None:
    batch = _records(30)
    before = _next_offset(engines.database)
    with psycopg.connect(engines.database) as holder, ThreadPoolExecutor(1) as pool:
        holder.execute("lock table applied in share mode")  # the last thing a batch writes, after all its merges
        applying = pool.submit(_apply, batch, pipeline_database)
        _until(lambda: _waits_for_a_lock(engines.database, "lily-pipeline"))
        assert _next_offset(engines.database) == before
        _drop_connections(engines.database, "lily-pipeline")
        holder.rollback()
        applying.result(PATIENCE_SECONDS)
    assert _next_offset(engines.database) == batch[-1].offset + 1
    _apply(batch, pipeline_database)  # and again: a task that runs twice
    ids = [str(orjson.loads(record.value or b"")["subject"]) for record in batch]
    with psycopg.connect(engines.database) as connection:
        rows = connection.execute(
            "select a.version, (select array_agg(version order by position) from changes c where c.asset_id = a.id), "
            "(select bool_or(before is not distinct from after) from changes c where c.asset_id = a.id) "
            "from assets a where id = any(%s::uuid[])",
            [ids],
        ).fetchall()
    assert len(rows) == len(set(ids))
    assert all(versions == list(range(1, version + 1)) and not idle for version, versions, idle in rows)


_offsets = iter(range(1_000_000))


def _events(count: int) -> list[AssetEvent]:
    speaker = Speaker(Random(time.time_ns()), TENANT, 100_000)
    return [speaker.event("") for _ in range(count)]


def _records(count: int) -> list[Record]:
    return [
        Record(topics.ASSETS, 0, next(_offsets), event.time, key_of(TENANT, event.asset_id), _value(event))
        for event in _events(count)
    ]


def _value(event: AssetEvent) -> bytes:
    return orjson.dumps(event.as_cloudevent())


def _apply(records: list[Record], database: str) -> None:
    """As Spark calls it, on one partition of a micro-batch."""
    columns: dict[str, list[Any]] = {name: [getattr(r, name) for r in records] for name in Record._fields}
    columns["timestamp"] = [time.time_ns() // 1000] * len(records)
    del columns["received"]
    (told,) = apply_partition([pa.RecordBatch.from_pydict(columns)], database)
    assert told.column("events").to_pylist() == [len(records)]
    assert told.column("refused").to_pylist() == [0]


def _commit_changes(database: str, events: int) -> set[str]:
    """Commits a batch; answers the ids under which its changes must be published."""
    store = CatalogueWriter(database)
    try:
        found = [(record, event) for record, event in zip(_records(events), _events(events), strict=True)]
        store.apply("elsewhere", {0: next(_offsets)}, found, [])
    finally:
        store.close()
    with psycopg.connect(database) as connection:
        rows = connection.execute("select position from changes where batch_id = (select max(id) from batches)")
        return {f"change-{position}" for (position,) in rows}


@contextmanager
def _relay(engines: OwnStack, database: str) -> Iterator[subprocess.Popen[bytes]]:
    """The worker process, as a deployment runs it."""
    settings = {**engines.kafka.variables_of("worker"), "LILY_DATABASE_URL": database}
    command = [sys.executable, "-m", "lily", "worker", "--only", "relay", "--data-dir", str(engines.data_dir)]
    with subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.DEVNULL) as relay:
        try:
            yield relay
        finally:
            relay.kill()


def _published(engines: OwnStack) -> Counter[str]:
    records = read_topic(engines.kafka.client, topics.METADATA)
    return Counter(orjson.loads(record.value or b"")["id"] for record in records)


def _waits_for_a_lock(database: str, application: str) -> bool:
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "select from pg_stat_activity where application_name = %s and wait_event_type = 'Lock'", [application]
        )
        return found.rowcount > 0


def _relays(database: str) -> int:
    return _one(database, "select count(*) from pg_stat_activity where application_name = 'lily-relay'")


def _drop_connections(database: str, application: str) -> None:
    with psycopg.connect(database) as connection:
        dropped = connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = %s", [application]
        )
        assert (True,) in dropped.fetchall()


def _next_offset(database: str) -> int:
    return _one(database, "select coalesce(max(next_offset), 0) from applied where topic = 'asset-ingestion-events'")


def _one(database: str, statement: LiteralString) -> int:
    with psycopg.connect(database) as connection:
        (found,) = connection.execute(statement).fetchone() or (0,)
        return int(found)


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)
