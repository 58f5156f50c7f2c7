"""What there is to judge by: the log and the change log from their beginning, and every row of the catalogue."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, NamedTuple

import psycopg
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from psycopg.rows import namedtuple_row
from pyiceberg.table import StaticTable

from lily.bus import topics
from lily.model.assets import LAYERS, LayerName
from lily.model.clock import parse, stamp_micros
from lily.model.layers import Layer
from lily.model.records import Record
from lily.model.states import merge_states
from lily.store.lake import tables
from lily.store.lake.rows import read_states

READ_SECONDS = 60.0
SPOT = ("topic", "partition", "offset")

Spot = tuple[str, int, int]  # topic, partition and offset


class Asset(NamedTuple):
    tenant: str
    id: str
    qualified_name: str
    layers: dict[LayerName, Layer]
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    log: list[Record]
    published: list[Record]
    buried: list[Record]
    tenants: frozenset[str]
    assets: Mapping[str, Asset]  # by id
    changes: list[Any]
    letters: Mapping[Spot, Any]
    applied: Mapping[tuple[str, int], int]
    lake: Mapping[str, Asset]  # by id, its pieces joined
    lake_events: list[Spot]

    def asset(self, asset_id: str) -> Asset | None:
        """As a reader finds it: in PostgreSQL, else in the lake."""
        return self.assets.get(asset_id) or self.lake.get(asset_id)


def gather(kafka: Mapping[str, Any], database: str) -> Evidence:
    log = read_topic(kafka, topics.ASSETS) + read_topic(kafka, topics.ASSETS_BULK)
    published, buried = read_topic(kafka, topics.METADATA), read_topic(kafka, topics.DEAD_LETTERS)
    with psycopg.connect(database, row_factory=namedtuple_row) as connection:

        def rows(statement: LiteralString) -> list[Any]:
            return connection.execute(statement).fetchall()

        return Evidence(
            log,
            published,
            buried,
            frozenset(row.id for row in rows("select id from tenants")),
            {asset.id: asset for asset in map(_asset, rows("select * from assets"))},
            rows("select * from changes order by asset_id, version, position"),
            {(row.topic, row.partition, row.offset): row for row in rows("select * from dead_letters")},
            {
                (row.topic, row.partition): row.next_offset
                for row in rows("select * from applied where topic not like '%@%'")
            },
            *_lake({row.table_name: row.metadata_location for row in rows("select * from iceberg_tables")}),
        )


def _lake(locations: Mapping[str, str]) -> tuple[dict[str, Asset], list[Spot]]:
    """All of the lake, read without any of Lily's own readers."""
    assets = StaticTable.from_metadata(locations[tables.ASSETS]).scan().to_arrow()
    events = StaticTable.from_metadata(locations[tables.EVENTS]).scan(selected_fields=SPOT).to_arrow().to_pylist()
    states = merge_states(read_states(assets)).values()
    return {
        state.id: Asset(
            state.tenant, state.id, state.qualified_name, state.layers, 0, parse(state.first), parse(state.last)
        )
        for state in states
    }, [(row["topic"], row["partition"], row["offset"]) for row in events]


def read_topic(kafka: Mapping[str, Any], topic: str) -> list[Record]:
    """Every record from the beginning to what is the end now."""
    consumer = Consumer({**kafka, "group.id": uuid.uuid4().hex, "enable.auto.commit": False})
    try:
        partitions = consumer.list_topics(topic, timeout=15).topics[topic].partitions
        ends = {p: consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=15)[1] for p in partitions}
        consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
        return _read(consumer, sum(ends.values()))
    finally:
        consumer.close()


def _read(consumer: Consumer, count: int) -> list[Record]:
    found: list[Record] = []
    deadline = time.monotonic() + READ_SECONDS
    while len(found) < count:
        assert time.monotonic() < deadline, f"the log gave {len(found)} of {count} records"
        for message in consumer.consume(1000, timeout=0.5):
            assert message.error() is None, message.error()
            _, millis = message.timestamp()
            received = stamp_micros(millis * 1000)
            place = (message.topic() or "", message.partition() or 0, message.offset() or 0)
            found.append(Record(*place, received, message.key(), message.value()))
    return found


def _asset(row: Any) -> Asset:
    layers: dict[LayerName, Layer] = {}
    for name in LAYERS:
        at = getattr(row, f"{name}_at")
        if at is not None:
            layers[name] = Layer(getattr(row, name), at, getattr(row, f"{name}_clocks"))
    return Asset(row.tenant_id, str(row.id), row.qualified_name, layers, row.version, row.created_at, row.updated_at)
