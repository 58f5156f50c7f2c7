"""The change log on the real log: headers that tell what an event is about, and how far a batch reaches."""

import time
from typing import Any

import psycopg
from confluent_kafka import Consumer, TopicPartition
from psycopg import sql

from lily.bus import topics
from lily.model import ids
from lily.reactions.relay.topic_ends import FOLLOWED
from tests.contract.conftest import door  # noqa: F401 - a fixture
from tests.contract.door import Door
from tests.shared_stack import Stack

_PATIENCE = 30


def ends_of(door: Door, table: str) -> dict[str, dict[str, int]]:  # noqa: F811 - the fixture's value
    """Where the topics of change events ended after the tenant's last change had been published."""
    asked = sql.SQL(
        "select b.ends from {} c join batches b on b.id = c.batch_id where c.tenant_id = %s order by c.position"
    ).format(sql.Identifier(table))
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        with psycopg.connect(door.stack.database) as connection:
            rows = connection.execute(asked, [door.tenant]).fetchall()
        if rows and rows[-1][0] is not None:
            return dict(rows[-1][0])
        time.sleep(0.1)
    raise AssertionError("not published in time")


def headers_of(stack: Stack, topic: str, key: str, end: dict[str, int]) -> list[dict[str, Any]]:
    """The headers of a key's records, from the beginning of the topic to the given end."""
    consumer = Consumer({"bootstrap.servers": stack.kafka, "group.id": "test-relay", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(topic, int(at), 0) for at in end])
    left, found = sum(end.values()), []
    deadline = time.monotonic() + _PATIENCE
    while left > 0 and time.monotonic() < deadline:
        for message in consumer.consume(500, timeout=1):
            if (message.offset() or 0) < end[str(message.partition())]:
                left -= 1
                if message.key() == key.encode():
                    found.append(dict(message.headers() or []))
    consumer.close()
    return found


def test_a_published_batch_says_where_its_changes_can_be_read(door: Door) -> None:  # noqa: F811
    asset_id = door.ingest("a", tags=["PII"])
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "x"})
    ends = ends_of(door, "changes")
    assert set(ends) == set(FOLLOWED)
    first, second = headers_of(door.stack, topics.METADATA, f"{door.tenant}/{asset_id}", ends[topics.METADATA])
    assert set(first["changed"].decode().split(",")) >= {"name", "tags", "$type", "$deleted"}
    assert second["changed"] == b"tags"
    assert int(first["position"]) < int(second["position"])


def test_a_change_of_an_edge_names_where_it_comes_from(door: Door) -> None:  # noqa: F811
    start, end = ids.asset_id(door.tenant, "a"), ids.asset_id(door.tenant, "b")
    stated = {"from": start, "to": end, "relationship_type": "used-in"}
    door.change("POST", "/lineage", {"edges": [stated]})
    door.change("POST", "/lineage", {"edges": [stated | {"masking": True}]})
    ends = ends_of(door, "edge_changes")
    first, second = headers_of(door.stack, topics.LINEAGE, f"{door.tenant}/{end}", ends[topics.LINEAGE])
    assert first["from"] == start.encode()
    assert set(first["changed"].split(b",")) == {b"propagates", b"masking", b"is_deleted"}
    assert second["changed"] == b"masking"
