"""The queries for assets and for edges: each starts at the offsets applied to the catalogue. The one for assets warms
up, and reports when it is ready."""

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
from lily.bus.authority import SigningKeys
from lily.bus.offsets import Offsets
from lily.model.errors import Transient
from lily.observe.traces import tracer
from lily.pipeline.hot.pacing import Pacing
from lily.pipeline.hot.task import REPORT, apply_partition
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets
from lily.pipeline.session import HOT_NICENESS, worker_niceness
from lily.pipeline.source import KafkaSource, start_query
from lily.pipeline.validation import PING
from lily.settings import Settings
from lily.store.postgres.access.secrets import read_master_keys
from lily.store.postgres.catalogue.writer import CatalogueWriter

WARM_UP_ROUNDS = 4  # the first batches compile and load code; afterwards a batch takes a tenth of a second
_log = structlog.get_logger()


class CatalogueQuery:
    """Applies the events of one topic to the catalogue."""

    name: str
    topic: str

    def __init__(self, settings: Settings, stop: threading.Event, metrics: PipelineMetrics) -> None:
        self._settings, self._stop, self._metrics = settings, stop, metrics
        self._keys = SigningKeys(settings.master_key_file, read_master_keys)
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
        source = KafkaSource(
            self._settings.brokers,
            (self.topic,),
            starting_offsets(self._settings, self.topic),
            self._settings.pipeline.batch_events,
            {"kafka.fetch.max.wait.ms": "50"},  # a consumer waits no longer than that for more records
        )
        return start_query(
            self.name,
            source.records(spark),
            partial(self._apply, spark),
            checkpoint=checkpoint,
            trigger_ms=self._trigger_ms(),
        )

    def _trigger_ms(self) -> int:
        return self._settings.pipeline.trigger_ms

    def _tasks(self, batch: DataFrame) -> DataFrame:
        """The batch as it is divided between tasks."""
        return batch

    def _apply(self, spark: SparkSession, batch: DataFrame) -> None:
        started = time.monotonic()
        skew = timedelta(seconds=self._settings.limits.future_skew_seconds)
        task = partial(apply_partition, database_url=self._settings.database_url, skew=skew, keys=self._keys())
        with tracer.start_as_current_span(f"{self.name}.batch") as span:
            with worker_niceness(spark, HOT_NICENESS):
                applied = self._tasks(batch).mapInArrow(task, REPORT)
            reports = applied.collect()
            span.set_attribute("lily.events", sum(report["events"] for report in reports))
        self._count(reports, time.monotonic() - started)
        self._pause(sum(report["events"] for report in reports), started)

    def _pause(self, events: int, began: float) -> None:
        """Of queries that collect events under load."""

    def _count(self, reports: list[Row], seconds: float) -> None:
        self._events_seen += sum(report["events"] for report in reports)
        self._metrics.count(reports, seconds)
        if unsigned := sum(report["unsigned"] for report in reports):
            _log.warning(
                "events claimed authority without a valid signature; applied without authority", events=unsigned
            )
        if held := sum(report["held"] for report in reports):
            _log.info(
                "claims ended without authority; they conduct protective tags until that is confirmed", claims=held
            )

    def _warm_up(self, query: StreamingQuery) -> None:  # noqa: ARG002 - of queries that need it
        self.ready.set()
        _log.info("ready", query=self.name)


class HotQuery(CatalogueQuery):
    name, topic = "hot", topics.ASSETS

    def __init__(self, settings: Settings, stop: threading.Event, metrics: PipelineMetrics) -> None:
        super().__init__(settings, stop, metrics)
        pipeline = settings.pipeline
        self._pacing = Pacing(pipeline.trigger_ms / 1000, pipeline.busy_trigger_ms / 1000, pipeline.batch_events)

    def _pause(self, events: int, began: float) -> None:
        self._stop.wait(self._pacing.pause(events, began, time.monotonic()))

    def _warm_up(self, query: StreamingQuery) -> None:
        """Sends pings through the whole path until it is fast, so that the first real event is processed quickly."""
        for _ in range(WARM_UP_ROUNDS):
            goal = self._events_seen + send_pings(self._settings)
            while self._events_seen < goal and not self._stop.is_set():
                if query.awaitTermination(0.05):
                    return
        self.ready.set()
        _log.info("ready", query="hot")


class LineageQuery(CatalogueQuery):
    """Edges, and claims of runs: a record of a run can have twenty thousand, and no table waits for it. Their order
    relative to their assets does not matter."""

    name, topic = "lineage", topics.LINEAGE_INTAKE

    def _trigger_ms(self) -> int:
        return self._settings.pipeline.lineage_trigger_ms

    def _tasks(self, batch: DataFrame) -> DataFrame:
        """A running task is never interrupted, so one slot is left to tables."""
        return batch.coalesce(max(batch.sparkSession.sparkContext.defaultParallelism - 1, 1))


def starting_offsets(settings: Settings, topic: str) -> Offsets:
    """The next offset to apply, for every partition; the beginning of a partition that was never applied."""
    store, log = CatalogueWriter(settings.database_url), LogOffsets(settings.brokers, "lily-positions")
    try:
        applied = {(topic, at): offset for at, offset in store.positions(topic).items()}
        return log.starts((topic,), applied)
    finally:
        log.close()
        store.close()


def send_pings(settings: Settings) -> int:
    """Sends one ping to each partition of the assets' topic, and returns how many."""
    producer = Producer({**settings.brokers.client(), "acks": "all"})
    partitions = producer.list_topics(topics.ASSETS, timeout=15).topics[topics.ASSETS].partitions
    for partition in partitions:
        producer.produce(topics.ASSETS, orjson.dumps({"type": PING}), partition=partition)
    if producer.flush(15):
        raise Transient("Kafka did not acknowledge the warm-up events within 15 seconds; trying again.")
    return len(partitions)
