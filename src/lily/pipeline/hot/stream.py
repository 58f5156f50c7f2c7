"""The hot query: the log becomes the catalogue, about a second behind.

It reads the statements about assets and those about edges. Kafka keeps all events of one asset, or of one edge or job,
in one partition, and Spark gives each partition of a micro-batch to one task. So each task judges, folds, merges and
commits its own partition in one transaction, and the driver only counts: no shuffle, and on a cluster no funnel. The
position is part of that transaction, so a task that runs twice changes nothing the second time.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lily.bus import topics
from lily.model.envelopes import FUTURE_SKEW
from lily.model.records import Record, Refusal
from lily.observe.traces import tracer
from lily.pipeline.arrow_records import CUT_BYTES, cuts, read_records, received
from lily.pipeline.connections import with_store
from lily.pipeline.latency import measured
from lily.pipeline.session import worker_niceness
from lily.pipeline.validation import judge, judge_lineage
from lily.store.postgres.catalogue.writer import BatchCounts, CatalogueWriter

if TYPE_CHECKING:
    from lily.model.edges import ClaimsEvent, EdgeEvent
    from lily.model.events import AssetEvent

TOPICS = (topics.ASSETS, topics.LINEAGE_INTAKE)
REPORT = (
    "partition int, events long, merged long, changed long, refused long, kept long, latency array<long>, "
    "seconds double"
)
_REPORT_ARROW = pa.schema(
    [
        ("partition", pa.int32()),
        ("events", pa.int64()),
        ("merged", pa.int64()),
        ("changed", pa.int64()),
        ("refused", pa.int64()),
        ("kept", pa.int64()),
        ("latency", pa.list_(pa.int64())),
        ("seconds", pa.float64()),
    ]
)


def start(
    spark: SparkSession,
    *,
    bootstrap: str,
    starting_offsets: str,
    database_url: str,
    checkpoint: str,
    trigger_ms: int,
    batch_events: int,
    skew: timedelta,
    on_batch: Callable[[list[Row], float], None],
) -> StreamingQuery:
    """Starts the query at the given offsets. It ends only by failing or being stopped."""

    work = partial(apply_partition, database_url=database_url, skew=skew)

    def apply(batch: DataFrame, _: int) -> None:
        started = time.monotonic()
        with tracer.start_as_current_span("hot.batch") as span:
            with worker_niceness(spark, 0):
                applied = batch.mapInArrow(work, REPORT)
            reports = applied.collect()
            span.set_attribute("lily.events", sum(report["events"] for report in reports))
        on_batch(reports, time.monotonic() - started)

    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", ",".join(TOPICS))
        .option("startingOffsets", starting_offsets)
        .option("maxOffsetsPerTrigger", batch_events)
        .option("failOnDataLoss", "true")
        .option("kafka.fetch.max.wait.ms", "50")
        .load()
        .select("topic", "partition", "offset", "timestamp", "key", "value")
        .writeStream.queryName("hot")
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime=f"{trigger_ms} milliseconds")
        .foreachBatch(apply)
        .start()
    )


def apply_partition(
    batches: Iterable[pa.RecordBatch], database_url: str, skew: timedelta = FUTURE_SKEW
) -> Iterator[pa.RecordBatch]:
    """Runs in a Spark task, on one partition of a micro-batch. Answers one row for each transaction it made."""
    for cut in cuts(batches, CUT_BYTES):
        records = [record for batch in cut for record in read_records(batch)]
        applied = with_store(database_url, partial(_apply, records, skew))
        now = time.time()
        ages = [now - micros / 1_000_000 for batch in cut for micros in received(batch)]
        counts = (applied.merged, applied.changed, applied.refused, applied.kept)
        told = [records[0].partition, len(records), *counts, *measured(ages)]
        columns = [pa.array([value], field.type) for value, field in zip(told, _REPORT_ARROW, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=_REPORT_ARROW)


def _apply(records: list[Record], skew: timedelta, store: CatalogueWriter) -> BatchCounts:
    events: list[tuple[Record, AssetEvent | EdgeEvent | ClaimsEvent]] = []
    refusals: list[Refusal] = []
    next_offsets: dict[int, int] = {}
    topic = records[0].topic  # a task has one partition of one topic
    judge_by_topic = judge_lineage if topic == topics.LINEAGE_INTAKE else judge
    for record in records:
        next_offsets[record.partition] = max(record.offset + 1, next_offsets.get(record.partition, 0))
        verdict = judge_by_topic(record, store.knows_tenant, skew)
        if isinstance(verdict, Refusal):
            refusals.append(verdict)
        elif verdict is not None:
            events.append((record, verdict))
    return store.apply(topic, next_offsets, events, refusals)
