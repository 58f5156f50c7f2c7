"""The quality query: starts at the offsets that were counted, once there is something to count."""

import shutil
import threading
import time
from datetime import timedelta
from functools import partial
from pathlib import Path

import structlog
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lily.bus import topics
from lily.bus.offsets import Offsets
from lily.observe.traces import tracer
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets
from lily.pipeline.quality.task import REPORT, count_partition
from lily.pipeline.session import LAKE_NICENESS, worker_niceness
from lily.pipeline.source import KafkaSource, start_query
from lily.settings import Settings
from lily.store.postgres.connection import connect
from lily.store.postgres.progress.positions import next_offsets, raise_positions

TOPICS = (topics.USAGE,)
POLL_SECONDS = 2.0  # how often the log's end is looked at while the query rests
IDLE_SECONDS = 60.0  # after so long without an event the query rests
_log = structlog.get_logger()


class QualityQuery:
    """Many deployments report no usage, or once an hour, and an idle streaming query costs processor time. So it runs
    only while events come: in between, this looks at the end of the log."""

    def __init__(self, settings: Settings, stop: threading.Event, metrics: PipelineMetrics) -> None:
        self._settings, self._stop, self._metrics = settings, stop, metrics
        self._counted_at = 0.0
        self._counting = threading.Lock()

    def run(self, spark: SparkSession, checkpoint: Path) -> None:
        """Returns when it is stopped. Raises when the query fails or cannot start."""
        log = LogOffsets(self._settings.brokers, "lily-quality")
        try:
            while not self._stop.is_set():
                starts = self._starts(log)
                while log.ends(TOPICS) == starts:
                    if self._stop.wait(POLL_SECONDS):
                        return
                self._count_while_events_come(self._start(spark, starts, checkpoint))
                shutil.rmtree(checkpoint, ignore_errors=True)  # the next start begins at what was counted
        finally:
            log.close()

    def _starts(self, log: LogOffsets) -> Offsets:
        with connect(self._settings.database_url, "lily-quality") as connection:
            raise_positions(connection)
            counted = next_offsets(connection, topics.USAGE)
        return log.starts(TOPICS, {(topics.USAGE, at): offset for at, offset in counted.items()})

    def _start(self, spark: SparkSession, starts: Offsets, checkpoint: Path) -> StreamingQuery:
        quality = self._settings.quality
        source = KafkaSource(self._settings.brokers, TOPICS, starts, quality.batch_events)
        count = partial(self._count, spark)
        self._counted_at = time.monotonic()
        return start_query(
            "quality", source.records(spark), count, checkpoint=checkpoint, trigger_ms=quality.trigger_ms
        )

    def _count_while_events_come(self, query: StreamingQuery) -> None:
        _log.info("started", query="quality")
        try:
            while not self._stop.is_set() and not self._is_idle():
                if query.awaitTermination(1):
                    return
        finally:
            with self._counting:
                pass  # a batch in hand ends first: Spark would interrupt it
            query.stop()

    def _is_idle(self) -> bool:
        return not self._counting.locked() and time.monotonic() - self._counted_at > IDLE_SECONDS

    def _count(self, spark: SparkSession, batch: DataFrame) -> None:
        skew = timedelta(seconds=self._settings.limits.future_skew_seconds)
        task = partial(count_partition, database_url=self._settings.database_url, skew=skew)
        with self._counting, tracer.start_as_current_span("quality.batch") as span:
            with worker_niceness(spark, LAKE_NICENESS):  # shares the Python processes of the lake query
                counted = batch.mapInArrow(task, REPORT)
            reports = counted.collect()
            span.set_attribute("lily.events", sum(report["events"] for report in reports))
        self._metrics.count_usage(reports)
        self._counted_at = time.monotonic()
