"""The bulk door sends each row to the topic of its lane; a single write takes the hot one."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import orjson
import pytest
from confluent_kafka import Consumer, TopicPartition

from lily.api.receipts.receipt import unseal
from lily.bus import topics
from lily.bus.offsets import read_ends
from tests.contract.door import WAIT, Door, table

NDJSON = {"Content-Type": "application/x-ndjson"}
Listen = Callable[[int], dict[str, str]]


@pytest.fixture
def arrivals(door: Door) -> Iterator[Listen]:
    """From here on: the topic of each of this tenant's assets, once so many records have arrived."""
    settings = {**door.stack.kafka.client, "group.id": f"test-{door.tenant}", "enable.auto.commit": False}
    with closing(Consumer(settings)) as consumer:
        ends = read_ends(consumer, topics.OF_LANE.values(), timeout=15)
        consumer.assign([TopicPartition(topic, partition, end) for (topic, partition), end in ends.items()])
        yield lambda count: dict(record for _, record in zip(range(count), records(door, consumer), strict=False))


def records(door: Door, consumer: Consumer) -> Iterator[tuple[str, str]]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        message = consumer.poll(1.0)
        if message is None or not (message.key() or b"").startswith(f"{door.tenant}/".encode()):
            continue
        event = orjson.loads(message.value() or b"")
        yield event["data"]["qualified_name"], str(message.topic())


def column(name: str, entity_type: str = "column", **attributes: Any) -> dict[str, Any]:
    return table(name, entity_type, **{"parent": name.rpartition(".")[0], **attributes})


def send(door: Door, rows: list[Any]) -> Any:
    body = b"\n".join(orjson.dumps(row) for row in rows)
    return door.http.post("/ingest-metadata/bulk", content=body, headers=NDJSON)


def test_each_row_goes_to_the_topic_of_its_lane(door: Door, arrivals: Listen) -> None:
    hot = [
        table("shop"),
        table("shop.orders"),
        column("shop.orders.email", tags=["PII"]),
        column("shop.orders.gone") | {"operation": "delete"},
        column("shop.orders.moved", parent="shop.other"),
    ]
    bulk = [column("shop.orders.id"), column("bi.sales.total", "field"), column("bi.sales.share", "bi_field")]
    assert send(door, hot + bulk).json()["accepted"] == 8
    lanes = {row["attributes"]["qualified_name"]: topics.ASSETS for row in hot}
    lanes |= {row["attributes"]["qualified_name"]: topics.ASSETS_BULK for row in bulk}
    assert arrivals(8) == lanes


def test_a_single_write_is_hot_even_for_a_plain_column(door: Door, arrivals: Listen) -> None:
    answer = door.http.post("/ingest-metadata", json=column("shop.orders.id"), headers=WAIT)
    assert answer.status_code == 200
    assert arrivals(1) == {"shop.orders.id": topics.ASSETS}


def test_the_receipt_of_a_mixed_body_names_both_topics(door: Door) -> None:
    rows = [table(f"shop.t{number}") for number in range(50)] + [column(f"shop.t.c{number}") for number in range(50)]
    receipt = unseal(send(door, rows).headers["lily-receipt"], door.tenant)
    assert {position.topic for position in receipt.positions} == {topics.ASSETS, topics.ASSETS_BULK}


def test_accepted_events_are_counted_by_lane(door: Door) -> None:
    before = accepted(door)
    send(door, [table("shop.orders"), column("shop.orders.a"), column("shop.orders.b")])
    now = accepted(door)
    assert now["hot"] - before["hot"] >= 1
    assert now["bulk"] - before["bulk"] >= 2


def accepted(door: Door) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in door.http.get("/metrics").text.splitlines():
        for lane in topics.OF_LANE:
            if line.startswith(f'lily_events_accepted_total{{lane="{lane}"}}'):
                counts[lane] = int(float(line.split()[-1]))
    return counts
