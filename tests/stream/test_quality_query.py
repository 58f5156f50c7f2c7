"""The quality query in Spark: late, repeated and refused usage events, repeated batches and restarts end in the counts
and findings of the oracle."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import partial, reduce
from pathlib import Path
from random import Random
from typing import Any

import orjson
import psycopg
import pyarrow as pa
import pytest
from confluent_kafka import Producer
from psycopg.types.json import Jsonb
from pyspark.sql import DataFrame

from lily.bus import topics
from lily.model import clock, ids
from lily.model.usage import UsageEvent, read_usage_item
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.quality.query import QualityQuery
from lily.pipeline.quality.task import REPORT, count_partition
from lily.quality.parsing import parse_quality_policy
from lily.store.postgres.access.administration import create_tenant
from tests import quality_oracle
from tests.quality_oracle import Used
from tests.shared_stack import Stack
from tests.stream.conftest import Lake
from tests.task_lake import KAFKA

# PySpark leaves the sockets of results to the garbage collector.
pytestmark = [pytest.mark.campaign, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
PARTITIONS = (100, 101)  # of no topic: the queries of other tests do not count them
PATIENCE_SECONDS = 60
NAMES = [f"shop.t{number}" for number in range(8)]
POLICIES: dict[str, dict[str, Any]] = {
    "deviation": {"policy_type": "query_count_deviation", "threshold": 30, "days": 4},
    "spike": {"policy_type": "query_spike", "threshold": 60},
}
Row = dict[str, Any]


def event_of(used: Used, tenant: str, received: datetime = NOW) -> UsageEvent:
    item = {"asset_id": used.asset, "query_count": used.queries, "timestamp": clock.stamp(used.at)}
    item |= {"event_id": used.event_id} if used.event_id else {}
    return read_usage_item(item, tenant=tenant, received=clock.stamp(received))


class UsageLog:
    """A log in memory with two partitions, and the batches of the query over it."""

    def __init__(self, lake: Lake, tenant: str) -> None:
        self.lake, self.tenant = lake, tenant
        self._rows: dict[int, list[Row]] = {at: [] for at in PARTITIONS}
        with psycopg.connect(lake.owner) as connection:
            # Of a test before this one, which began at the same offsets: a record has one dead letter.
            connection.execute("delete from applied where partition = any (%s)", [list(PARTITIONS)])
            connection.execute("delete from dead_letters where partition = any (%s)", [list(PARTITIONS)])

    def append(self, key: bytes, value: bytes) -> None:
        at = PARTITIONS[key[-1] % len(PARTITIONS)]
        row = {"partition": at, "offset": len(self._rows[at]), "key": key, "value": value}
        self._rows[at].append({"topic": topics.USAGE, "timestamp": NOW, **row})

    def count(self, begin: dict[int, int], most: int, only: int | None = None) -> None:
        """A micro-batch of the next events after these offsets; of one partition, as if the task of the other one had
        failed."""
        batches = [self._rows[at][begin[at] :][:most] for at in PARTITIONS if only in {None, at}]
        frames = [self._frame(batch) for batch in batches if batch]
        if frames:
            url = self.lake.settings.database_url
            task = partial(count_partition, database_url=url, now=NOW)
            reduce(DataFrame.union, frames).mapInArrow(task, REPORT).collect()

    def counted(self) -> dict[int, int]:
        """Where the query would start."""
        with psycopg.connect(self.lake.owner) as connection:
            rows = connection.execute(
                "select partition, next_offset from applied where partition = any (%s)", [list(PARTITIONS)]
            )
            return dict.fromkeys(PARTITIONS, 0) | dict(rows.fetchall())

    @property
    def ends(self) -> dict[int, int]:
        return {at: len(rows) for at, rows in self._rows.items()}

    def _frame(self, rows: list[Row]) -> DataFrame:
        """In one task and in the order of offsets, as Kafka's source has it."""
        frame = self.lake.spark.createDataFrame(pa.Table.from_pylist(rows, schema=KAFKA))
        return frame.coalesce(1).sortWithinPartitions("offset")


@pytest.fixture
def tenant(lake: Lake) -> str:
    name = f"t{ids.event_id()[-12:]}"
    create_tenant(lake.owner, name)
    with psycopg.connect(lake.owner) as connection:
        for key, stated in POLICIES.items():
            for asset in NAMES:
                policy = parse_quality_policy({"asset": asset, **stated}, tenant=name, policy_id=f"{key} {asset}")
                connection.execute(
                    "insert into quality_policies (tenant_id, key, asset_id, policy_type, body, delay_hours) "
                    "values (%s, %s, %s, %s, %s, %s)",
                    [name, policy.id, policy.asset_id, policy.policy_type, Jsonb(policy.as_dict()), 1],
                )
    return name


def stored_counts(lake: Lake, tenant: str) -> dict[str, dict[date, int]]:
    names = {ids.asset_id(tenant, name): name for name in NAMES}
    found: dict[str, dict[date, int]] = {}
    with psycopg.connect(lake.owner) as connection:
        rows = connection.execute(
            "select asset_id::text, day, queries from usage_days where tenant_id = %s", [tenant]
        ).fetchall()
    for asset, day, queries in rows:
        found.setdefault(names[asset], {})[day] = queries
    return found


def stored_findings(lake: Lake, tenant: str) -> set[tuple[str, str]]:
    with psycopg.connect(lake.owner) as connection:
        rows = connection.execute(
            "select policy, cause from quality_findings where tenant_id = %s and closed_at is null", [tenant]
        )
        return set(rows.fetchall())


def is_counted(lake: Lake, tenant: str, expected: dict[str, dict[date, int]]) -> bool:
    return stored_counts(lake, tenant) == expected


def random_events(random: Random, number: int) -> list[Used]:
    """Half of them with ids, and some of those sent again."""
    events = [
        Used(
            random.choice(NAMES),
            NOW - timedelta(days=random.randrange(10), hours=random.randrange(12)),
            random.randrange(20),
            f"e{random.getrandbits(40)}" if random.random() < 0.5 else "",
        )
        for _ in range(number)
    ]
    return events + random.choices([event for event in events if event.event_id], k=number // 3)


@pytest.mark.parametrize("seed", [1, 2])
def test_late_repeated_and_refused_events_in_repeated_batches_end_as_the_oracle_has_it(
    lake: Lake, tenant: str, seed: int
) -> None:
    random, log = Random(seed), UsageLog(lake, tenant)
    events = random_events(random, 400)
    rubbish = [b"{", b"null", orjson.dumps({"type": "lily.usage.reported"})]
    for used in events:
        event = event_of(used, tenant)
        log.append(event.key, orjson.dumps(event.as_cloudevent()))
    for value in rubbish:
        log.append(f"{tenant}/x".encode(), value)
    begin = log.counted()
    while begin != log.ends:
        most = random.randrange(20, 120)
        if random.random() < 0.4:
            log.count(begin, most, only=random.choice(PARTITIONS))  # and then the batch is repeated
        log.count(begin, most)
        begin = log.counted()
    expected = quality_oracle.daily(events)
    assert stored_counts(lake, tenant) == expected
    assert stored_findings(lake, tenant) == {
        (f"{key} {name}", cause)
        for key, stated in POLICIES.items()
        for name in NAMES
        for cause in quality_oracle.causes(stated, expected, name, NOW)
    }
    with psycopg.connect(lake.owner) as connection:
        letters = connection.execute("select original from dead_letters where tenant_id = %s", [tenant]).fetchall()
    assert sorted(original for (original,) in letters) == sorted(rubbish)


@contextmanager
def running(lake: Lake, checkpoint: Path) -> Iterator[None]:
    stop = threading.Event()
    query = QualityQuery(lake.settings, stop, PipelineMetrics())
    thread = threading.Thread(target=query.run, args=(lake.spark, checkpoint))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def produce(stack: Stack, events: list[UsageEvent]) -> None:
    producer = Producer({**stack.kafka.client, "enable.idempotence": True, "partitioner": "murmur2_random"})
    for event in events:
        producer.produce(topics.USAGE, orjson.dumps(event.as_cloudevent()), event.key)
    assert producer.flush(30) == 0


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "not counted in time"
        time.sleep(0.1)


def test_a_query_that_is_started_again_counts_what_came_meanwhile_and_nothing_twice(
    lake: Lake, stack: Stack, tenant: str, tmp_path: Path
) -> None:
    create_tenant(stack.database, tenant)  # the stack's own query reads the same topic
    random, now = Random(3), datetime.now(UTC)
    events = [used._replace(at=now - (NOW - used.at)) for used in random_events(random, 90)]
    for begin, end in ((0, 50), (50, 70), (70, len(events))):
        produce(stack, [event_of(used, tenant, now) for used in events[begin:end]])
        expected = quality_oracle.daily(events[:end])
        with running(lake, tmp_path / str(end)):
            eventually(partial(is_counted, lake, tenant, expected))
