"""The lake query: every event of both lanes, kept for good, and what the events amount to.

A batch is written twice. First its states are appended to `assets`; written again after a crash they join to the same
asset, so no harm is done. Then its events are appended to `events`, and that commit carries the batch's number and
the positions it ends at. The query starts where the last such commit ends, so each event is in `events` exactly once,
whatever happened between the two writes, and Spark's own checkpoint is scratch.

Events of the bulk lane are judged here, so here they are refused; and where they concern an asset that PostgreSQL
holds too, they are merged there in the same breath.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses
from pyspark.sql.streaming.query import StreamingQuery

from lily.bus import topics
from lily.model.records import Record, Refusal
from lily.model.states import AssetState, joined
from lily.pipeline.cuts import cuts, read_records
from lily.pipeline.judge import judge
from lily.pipeline.lake_positions import Commit, Positions
from lily.pipeline.stores import with_store
from lily.store.lake import tables
from lily.store.lake.rows import STATE, as_batch
from lily.store.postgres.hot import HotStore

if TYPE_CHECKING:
    from lily.model.events import AssetEvent

TOPICS = (topics.ASSETS, topics.ASSETS_BULK)
STATE_DDL = ", ".join(f"{field.name} {'bigint' if field.type == pa.int64() else 'string'}" for field in STATE)
CUT_BYTES = 6 << 20  # a batch is large and nobody waits for it: what counts is the memory of its workers
ALL = -1  # in place of a partition, where a report does not concern a single one
_KEY = r"^([^/]+)/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$"


class Report(NamedTuple):
    """What one task read of one partition, and what became of it."""

    topic: str
    partition: int
    next_offset: int
    events: int
    refused: int
    refreshed: int  # changes in PostgreSQL


class Reports(AccumulatorParam):  # type: ignore[misc]  # the library names no type for it
    def zero(self, value: list[Report]) -> list[Report]:  # noqa: ARG002 - the signature is the library's
        return []

    def addInPlace(self, value1: list[Report], value2: list[Report]) -> list[Report]:  # noqa: N802 - so is the name
        value1.extend(value2)
        return value1


@dataclass(frozen=True)
class LakeBatch:
    """Writes one micro-batch after the other. Whoever calls it calls it in order."""

    spark: SparkSession
    database_url: str
    skew: timedelta
    tasks: int
    last: Callable[[], Commit]
    known_tenants: Callable[[], list[str]]

    def write(self, batch: DataFrame) -> tuple[Commit, list[Report]]:
        number = self.last().number + 1
        began = time.time()
        source = batch.coalesce(self.tasks) if self.tasks else batch
        reports = self._write_states(source, number)
        positions = self.last().positions.advanced((r.topic, r.partition, r.next_offset) for r in reports)
        commit = Commit(number, positions, sum(report.events for report in reports), began)
        self._write_events(source, commit)
        return commit, reports

    def _write_states(self, batch: DataFrame, number: int) -> list[Report]:
        reports: Accumulator[list[Report]] = self.spark.sparkContext.accumulator([], Reports())
        work = partial(state_partition, run=number, database_url=self.database_url, skew=self.skew, tell=reports.add)
        states = batch.select("topic", "partition", "offset", "timestamp", "key", "value").mapInArrow(work, STATE_DDL)
        states.writeTo(tables.identifier(tables.ASSETS)).append()
        found: list[Report] = reports.value
        return found

    def _write_events(self, batch: DataFrame, commit: Commit) -> None:
        writer = as_events(batch, commit.number, self.known_tenants()).writeTo(tables.identifier(tables.EVENTS))
        for name, value in commit.as_properties().items():
            writer = writer.option(f"snapshot-property.{name}", value)
        writer.append()


def as_events(batch: DataFrame, number: int, tenants: list[str]) -> DataFrame:
    """The records of known tenants as rows of `events`. A ping has no key; what is no text cannot be an event."""
    key, value = F.col("key").cast("string"), F.col("value").cast("string")
    asset_id = F.regexp_extract(key, _KEY, 2)
    return batch.where(
        key.rlike(_KEY) & F.regexp_extract(key, _KEY, 1).isin(tenants) & value.isNotNull() & F.is_valid_utf8(value)
    ).select(
        F.regexp_extract(key, _KEY, 1).alias("tenant"),
        asset_id.alias("id"),
        F.substring(asset_id, 1, tables.PLACE_DIGITS).alias("place"),
        F.lit(number).cast("bigint").alias("batch"),
        "topic",
        "partition",
        "offset",
        F.date_format("timestamp", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").alias("received"),
        value.alias("event"),
    )


def state_partition(
    batches: Iterable[pa.RecordBatch],
    run: int,
    database_url: str,
    skew: timedelta,
    tell: Callable[[list[Report]], None],
) -> Iterator[pa.RecordBatch]:
    """Runs in a Spark task: judges what it is given and answers one state for each asset of each cut."""
    for cut in cuts(batches, CUT_BYTES):
        records = [record for batch in cut for record in read_records(batch)]
        yield as_batch(with_store(database_url, partial(_states, records, skew, tell)), run)


def _states(
    records: list[Record], skew: timedelta, tell: Callable[[list[Report]], None], store: HotStore
) -> list[AssetState]:
    events: list[tuple[Record, AssetEvent]] = []
    refusals: list[Refusal] = []
    ends: dict[tuple[str, int], list[int]] = {}
    for record in records:
        counted = ends.setdefault((record.topic, record.partition), [0, 0])
        counted[0] = max(counted[0], record.offset + 1)
        counted[1] += 1
        verdict = judge(record, store.knows_tenant, skew)
        if isinstance(verdict, Refusal):
            refusals.append(verdict)
        elif verdict is not None:
            events.append((record, verdict))
    # The hot query has refused and applied what is its own already, or is about to.
    bulk = [pair for pair in events if pair[0].topic == topics.ASSETS_BULK]
    refused = [refusal for refusal in refusals if refusal.record.topic == topics.ASSETS_BULK]
    applied = store.refresh(bulk, refused)
    tell([Report(topic, at, end, count, 0, 0) for (topic, at), (end, count) in ends.items()])
    tell([Report(topics.ASSETS_BULK, ALL, 0, 0, applied.refused, applied.changed)])
    return list(joined(AssetState.of(event) for _, event in events).values())


def start(
    spark: SparkSession,
    *,
    bootstrap: str,
    positions: Positions,
    checkpoint: str,
    trigger_seconds: float,
    batch_events: int,
    write: Callable[[DataFrame], Any],
) -> StreamingQuery:
    """Starts the query at the given positions. It ends only by failing or being stopped."""
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", ",".join(TOPICS))
        .option("startingOffsets", positions.as_json())
        .option("maxOffsetsPerTrigger", batch_events)
        .option("failOnDataLoss", "true")
        .load()
        .writeStream.queryName("lake")
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime=f"{int(trigger_seconds * 1000)} milliseconds")
        .foreachBatch(lambda batch, _: write(batch))
        .start()
    )
