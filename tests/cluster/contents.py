"""What the log, the lake and PostgreSQL hold, read past Lily's own readers."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
import psycopg
from confluent_kafka import Consumer, TopicPartition
from pyiceberg.table import StaticTable

from lily.bus import topics
from lily.model.clock import stamp
from lily.model.events import AssetEvent, read_event
from lily.model.states import AssetState, merge_states
from lily.store.lake.rows import read_states
from lily.store.lake.tables import ASSETS, EVENTS
from tests.integration.test_convergence import told

Spot = tuple[str, int, int]


def in_log(kafka: Mapping[str, Any]) -> dict[Spot, bytes]:
    """Every event of both lanes; pings, which have no key, are none."""
    consumer = Consumer({**kafka, "group.id": "test"})
    found: dict[Spot, bytes] = {}
    try:
        for topic in topics.OF_LANE.values():
            for at in consumer.list_topics(topic, timeout=15).topics[topic].partitions:
                found |= _partition(consumer, topic, at)
    finally:
        consumer.close()
    return found


def _partition(consumer: Consumer, topic: str, at: int) -> dict[Spot, bytes]:
    found: dict[Spot, bytes] = {}
    place = TopicPartition(topic, at, 0)
    _, end = consumer.get_watermark_offsets(place, timeout=15)
    consumer.assign([place])
    reached = 0
    while reached < end:
        for message in consumer.consume(1000, timeout=5):
            assert message.error() is None
            reached = (message.offset() or 0) + 1
            if message.key() is not None:
                found[topic, at, reached - 1] = message.value() or b""
    return found


def as_events(log: Mapping[Spot, bytes]) -> list[AssetEvent]:
    received = stamp(datetime.now(UTC))
    return [read_event(orjson.loads(value), received=received) for value in log.values()]


def lake_table(database: str, table: str, properties: Mapping[str, str] | None = None) -> StaticTable:
    with psycopg.connect(database) as connection:
        (location,) = (
            connection.execute("select metadata_location from iceberg_tables where table_name = %s", [table]).fetchone()
            or ()
        )
    return StaticTable.from_metadata(location, dict(properties or {}))


def events_in_lake(database: str, properties: Mapping[str, str] | None = None) -> list[tuple[Spot, bytes]]:
    rows = lake_table(database, EVENTS, properties).scan().to_arrow()
    columns = (rows.column(name).to_pylist() for name in ("topic", "partition", "offset", "event"))
    return [((topic, at, offset), event.encode()) for topic, at, offset, event in zip(*columns, strict=True)]


def assets_in_lake(database: str, properties: Mapping[str, str] | None = None) -> dict[tuple[str, str], dict[str, Any]]:
    """Every asset, its pieces joined, as the oracle tells it."""
    states = merge_states(read_states(lake_table(database, ASSETS, properties).scan().to_arrow()))
    return {(state.tenant, state.qualified_name): _told(state) for state in states.values()}


def _told(state: AssetState) -> dict[str, Any]:
    layers = [state.layers[name].fields if name in state.layers else None for name in ("source", "enriched", "user")]
    return told(state.tenant, layers, state.first, state.last)
