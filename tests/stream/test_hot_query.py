"""The hot query on the real log: shuffled, repeated and invalid records in; catalogue, changes and dead letters out."""

import time
import uuid
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import orjson
import psycopg
import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from lily.bus import topics
from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from tests import oracle
from tests.integration.test_convergence import comparable, stored
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign

Make = Callable[[], tuple[str, str]]
_PATIENCE = 60


def append(stack: Stack, records: Sequence[tuple[bytes | None, bytes | None]]) -> dict[int, int]:
    """Appends to the hot topic; returns the last offset of each partition."""
    producer = Producer({**stack.kafka.client, "enable.idempotence": True, "partitioner": "murmur2_random"})
    last: dict[int, int] = {}

    def delivered(error: Any, message: Message) -> None:
        assert error is None
        partition, offset = message.partition() or 0, message.offset() or 0
        last[partition] = max(offset, last.get(partition, 0))

    for key, value in records:
        producer.produce(topics.ASSETS, value, key, on_delivery=delivered)
    assert producer.flush(30) == 0
    return last


def wait_applied(stack: Stack, last: dict[int, int]) -> None:
    deadline = time.monotonic() + _PATIENCE
    with psycopg.connect(stack.database, autocommit=True) as connection:
        while time.monotonic() < deadline:
            rows = connection.execute("select partition, next_offset from applied where topic = %s", [topics.ASSETS])
            applied: dict[int, int] = dict(rows.fetchall())
            if all(applied.get(partition, 0) > offset for partition, offset in last.items()):
                return
            time.sleep(0.1)
    pytest.fail(f"not applied within {_PATIENCE} s")


def random_event(random: Random, tenant: str) -> AssetEvent:
    name = f"shop.public.t{random.randrange(40)}"
    optional = {
        "owner": random.choice(["alice", "bob", None]),
        "description": f"text {random.random()}",
        "tags": random.sample(["PII", "GDPR", "public"], random.randrange(3)),
        "rows": random.randrange(9),
    }
    chosen = {key: optional[key] for key in random.sample(sorted(optional), random.randrange(1, 5))}
    data: dict[str, Any] = {"layer": "user", "qualified_name": name, "attributes": chosen}
    if random.random() < 0.8:
        operation = random.choice(["upsert", "upsert", "upsert", "delete"])
        data |= {"layer": "source", "operation": operation, "entity_type": "table"}
        data["attributes"]["name"] = name.rpartition(".")[2]
    time_stated = f"2026-01-01T00:{random.randrange(60):02}:00.000000Z"
    return AssetEvent(
        str(uuid.UUID(int=random.getrandbits(128))),
        time_stated,
        tenant,
        read_statement({**data, "authorised": True}, tenant=tenant),
    )


def record(event: AssetEvent) -> tuple[bytes, bytes]:
    return topics.key_of(event.tenant, event.asset_id), orjson.dumps(event.as_cloudevent())


def test_shuffled_and_repeated_events_among_invalid_records_give_the_oracles_catalogue(
    stack: Stack, make_tenant: Make
) -> None:
    random = Random(7)
    tenant, _ = make_tenant()
    found = [random_event(random, tenant) for _ in range(1500)]
    arrivals = [record(event) for event in found + random.sample(found, 700)]
    rubbish = [(f"{tenant}/x".encode(), value) for value in (b"{", b"\xff\x00", b"[]", b"{}", b"null", b"")]
    arrivals += rubbish
    random.shuffle(arrivals)
    wait_applied(stack, append(stack, arrivals))
    # Whoever can write to Kafka can claim authority, but not sign it.
    expected = oracle.catalogue([event.without_authority() for event in found])
    assert comparable(stored(stack.database, tenant)) == expected
    with psycopg.connect(stack.database) as connection:
        letters = connection.execute("select original from dead_letters where tenant_id = %s", [tenant]).fetchall()
    assert sorted(original for (original,) in letters) == sorted(value for _, value in rubbish)


def test_every_change_is_published_once_it_is_committed(stack: Stack, make_tenant: Make) -> None:
    tenant, _ = make_tenant()
    random = Random(8)
    wait_applied(stack, append(stack, [record(random_event(random, tenant)) for _ in range(300)]))
    with psycopg.connect(stack.database) as connection:
        rows = connection.execute("select position from changes where tenant_id = %s", [tenant]).fetchall()
    expected = {f"change-{position}" for (position,) in rows}
    published = [event for event in read_all(stack, topics.METADATA, expected) if event["tenantid"] == tenant]
    assert {event["id"] for event in published} == expected
    versions: dict[str, list[int]] = {}
    for event in published:
        versions.setdefault(event["subject"], []).append(event["data"]["version"])
    assert all(found == sorted(found) for found in versions.values())


def read_all(stack: Stack, topic: str, expected: set[str]) -> list[dict[str, Any]]:
    """Reads the topic from its beginning until all expected events were seen."""
    consumer = Consumer({**stack.kafka.client, "group.id": "test", "auto.offset.reset": "earliest"})
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    events: list[dict[str, Any]] = []
    deadline = time.monotonic() + _PATIENCE
    while expected - {event["id"] for event in events} and time.monotonic() < deadline:
        messages = consumer.consume(500, timeout=1)
        events += [orjson.loads(message.value() or b"") for message in messages if message.error() is None]
    consumer.close()
    return events


def test_an_event_of_an_unknown_tenant_reaches_no_tenant(stack: Stack) -> None:
    ghost = f"ghost-{uuid.uuid4().hex[:8]}"
    statement = read_statement({"entity_type": "table", "attributes": {"name": "t"}}, tenant=ghost)
    event = AssetEvent(ids.event_id(), "2026-01-01T00:00:00.000000Z", ghost, statement)
    appended = append(stack, [record(event)])
    wait_applied(stack, appended)
    assert stored(stack.database, ghost) == {}
    # By its place in the log: other tests have dead letters too.
    place = 'select tenant_id, errors from dead_letters where (topic, partition, "offset") = (%s, %s, %s)'
    with psycopg.connect(stack.database) as connection:
        row = connection.execute(place, [topics.ASSETS, *appended.popitem()]).fetchone()
    assert row is not None
    assert (row[0], row[1][0]["code"]) == ("", "UNKNOWN_TENANT")
