"""The hot query: starts at the offsets applied to the catalogue, warms up, and reports when it is ready."""

import threading
import time
from datetime import timedelta
from functools import partial
from pathlib import Path

import orjson
import structlog
from confluent_kafka import Producer
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lily.bus import topics
from lily.bus.offsets import Offsets
from lily.model.errors import Transient
from lily.observe.traces import tracer
from lily.pipeline.hot.task import REPORT, apply_partition
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets
from lily.pipeline.session import HOT_NICENESS, worker_niceness
from lily.pipeline.source import KafkaSource, start_query
from lily.pipeline.validation import PING
from lily.settings import Settings
from lily.store.postgres.catalogue.writer import CatalogueWriter

TOPICS = (topics.ASSETS, topics.LINEAGE_INTAKE)
WARM_UP_ROUNDS = 4  # the first batches compile and load code; afterwards a batch takes a tenth of a second
_log = structlog.get_logger()


class HotQuery:
    def __init__(self, settings: Settings, stop: threading.Event, metrics: PipelineMetrics) -> None:
        self._settings, self._stop, self._metrics = settings, stop, metrics
        self.ready = threading.Event()
        self._events_seen = 0

    def run(self, spark: SparkSession, checkpoint: Path) -> None:
        """Returns when it is stopped. Raises when the query fails, and is no longer ready then."""
        query = self._start(spark, checkpoint)
        try:
            if not self.ready.is_set():
                self._warm_up(query)
            while not self._stop.is_set() and not query.awaitTermination(1):
                pass
        except BaseException:
            self.ready.clear()
            raise
        finally:
            query.stop()

    def _start(self, spark: SparkSession, checkpoint: Path) -> StreamingQuery:
        pipeline = self._settings.pipeline
        source = KafkaSource(
            self._settings.brokers,
            TOPICS,
            starting_offsets(self._settings),
            pipeline.batch_events,
            {"kafka.fetch.max.wait.ms": "50"},  # a consumer waits no longer than that for more records
        )
        return start_query(
            "hot",
            source.records(spark),
            partial(self._apply, spark),
            checkpoint=checkpoint,
            trigger_ms=pipeline.trigger_ms,
        )

    def _apply(self, spark: SparkSession, batch: DataFrame) -> None:
        started = time.monotonic()
        skew = timedelta(seconds=self._settings.limits.future_skew_seconds)
        task = partial(apply_partition, database_url=self._settings.database_url, skew=skew)
        with tracer.start_as_current_span("hot.batch") as span:
            with worker_niceness(spark, HOT_NICENESS):
                applied = batch.mapInArrow(task, REPORT)
            reports = applied.collect()
            span.set_attribute("lily.events", sum(report["events"] for report in reports))
        self._count(reports, time.monotonic() - started)

    def _count(self, reports: list[Row], seconds: float) -> None:
        self._events_seen += sum(report["events"] for report in reports)
        self._metrics.count(reports, seconds)
        if kept := sum(report["kept"] for report in reports):
            _log.warning("kept edges that a run no longer claims, because protective tags pass them", edges=kept)

    def _warm_up(self, query: StreamingQuery) -> None:
        """Sends pings through the whole path until it is fast, so that the first real event is processed quickly."""
        for _ in range(WARM_UP_ROUNDS):
            goal = self._events_seen + send_pings(self._settings)
            while self._events_seen < goal and not self._stop.is_set():
                if query.awaitTermination(0.05):
                    return
        self.ready.set()
        _log.info("ready", query="hot")


def starting_offsets(settings: Settings) -> Offsets:
    """The next offset to apply, for every partition; the beginning of a partition that was never applied."""
    store, log = CatalogueWriter(settings.database_url), LogOffsets(settings.brokers, "lily-positions")
    try:
        applied = {(topic, at): offset for topic in TOPICS for at, offset in store.positions(topic).items()}
        return log.starts(TOPICS, applied)
    finally:
        log.close()
        store.close()


def send_pings(settings: Settings) -> int:
    """Sends one ping to each partition of the assets' topic, and returns how many. Edges take the same path."""
    producer = Producer({**settings.brokers.client(), "acks": "all"})
    partitions = producer.list_topics(topics.ASSETS, timeout=15).topics[topics.ASSETS].partitions
    for partition in partitions:
        producer.produce(topics.ASSETS, orjson.dumps({"type": PING}), partition=partition)
    if producer.flush(15):
        raise Transient("Kafka did not acknowledge the warm-up events within 15 seconds; trying again.")
    return len(partitions)
