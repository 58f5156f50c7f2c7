"""The change log on the real log: what is routed to `governance-events`, and how far a batch reaches."""

import time
from typing import Any

import orjson
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
    """Where the followed topics ended after the tenant's last change had been published."""
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


def records_of(stack: Stack, topic: str, key: str, end: dict[str, int]) -> list[dict[str, Any]]:
    """The records of a key, from the beginning of the topic to the given end."""
    consumer = Consumer({**stack.kafka.client, "group.id": "test-relay", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(topic, int(at), 0) for at in end])
    left, found = sum(end.values()), []
    deadline = time.monotonic() + _PATIENCE
    while left > 0 and time.monotonic() < deadline:
        for message in consumer.consume(500, timeout=1):
            if (message.offset() or 0) < end[str(message.partition())]:
                left -= 1
                if message.key() == key.encode():
                    found.append(orjson.loads(message.value() or b""))
    consumer.close()
    return found


def test_a_published_batch_says_where_what_can_travel_is_read(door: Door) -> None:  # noqa: F811
    asset_id = door.ingest("a", tags=["PII"])
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "x"})
    door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"description": "plain"}})
    ends = ends_of(door, "changes")
    assert set(ends) == set(FOLLOWED) == {topics.GOVERNANCE}
    first, second = records_of(door.stack, topics.GOVERNANCE, f"{door.tenant}/{asset_id}", ends[topics.GOVERNANCE])
    assert set(first["changed"]) >= {"tags", "$deleted"}
    assert (second["changed"], second["layer"]) == (["tags"], "user")
    assert first["position"] < second["position"]


def test_a_plain_asset_is_routed_once_it_has_lineage(door: Door) -> None:  # noqa: F811
    plain = door.ingest("plain")
    late = ids.asset_id(door.tenant, "late")
    door.change("POST", "/lineage", {"edges": [{"from": plain, "to": late, "relationship_type": "used-in"}]})
    door.ingest("late")
    ends = ends_of(door, "changes")
    assert not records_of(door.stack, topics.GOVERNANCE, f"{door.tenant}/{plain}", ends[topics.GOVERNANCE])
    edge, asset = records_of(door.stack, topics.GOVERNANCE, f"{door.tenant}/{late}", ends[topics.GOVERNANCE])
    assert (edge["kind"], edge["from"], asset["kind"], asset["id"]) == ("edge", plain, "asset", late)
