"""The hot query in operation: started where the catalogue stands, proved warm, watched."""

import threading
from datetime import timedelta
from pathlib import Path

import orjson
import structlog
from confluent_kafka import Producer
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lily.bus import topics
from lily.model.errors import Transient
from lily.pipeline.hot import stream
from lily.pipeline.lake.commits import Positions
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets
from lily.pipeline.validation import PING
from lily.settings import Settings
from lily.store.postgres.catalogue.writer import CatalogueWriter

WARM_ROUNDS = 4  # the first batches compile and load; afterwards a batch takes a tenth of a second
_log = structlog.get_logger()


class HotQuery:
    def __init__(self, settings: Settings, stop: threading.Event, metrics: PipelineMetrics) -> None:
        self._settings, self._stop, self._metrics = settings, stop, metrics
        self.ready = threading.Event()
        self._seen = 0

    def run(self, spark: SparkSession, checkpoint: Path) -> None:
        """Returns when it is stopped; raises when the query fails, and is no longer ready then."""
        query = stream.start(
            spark,
            bootstrap=self._settings.kafka_bootstrap,
            starting_offsets=starting_offsets(self._settings),
            database_url=self._settings.database_url,
            checkpoint=str(checkpoint),
            trigger_ms=self._settings.pipeline.trigger_ms,
            batch_events=self._settings.pipeline.batch_events,
            skew=timedelta(seconds=self._settings.limits.future_skew_seconds),
            on_batch=self._count,
        )
        try:
            if not self.ready.is_set():
                self._warm(query)
            while not self._stop.is_set() and not query.awaitTermination(1):
                pass
        except BaseException:
            self.ready.clear()
            raise
        finally:
            query.stop()

    def _count(self, reports: list[Row], seconds: float) -> None:
        self._seen += sum(report["events"] for report in reports)
        self._metrics.count(reports, seconds)
        if kept := sum(report["kept"] for report in reports):
            _log.warning("edges kept that a run dropped, because a protective tag passes them", edges=kept)

    def _warm(self, query: StreamingQuery) -> None:
        """Sends pings through everything until the path is fast, so that the first real event is."""
        for _ in range(WARM_ROUNDS):
            goal = self._seen + ping(self._settings)
            while self._seen < goal and not self._stop.is_set():
                if query.awaitTermination(0.05):
                    return
        self.ready.set()
        _log.info("ready", query="hot")


def starting_offsets(settings: Settings) -> str:
    """Where the catalogue stands, for each partition there is; the beginning for one that was never applied."""
    store, log = CatalogueWriter(settings.database_url), LogOffsets(settings.kafka_bootstrap, "lily-positions")
    try:
        applied = {(topic, at): offset for topic in stream.TOPICS for at, offset in store.positions(topic).items()}
        return Positions(log.starts(stream.TOPICS, applied)).as_json()
    finally:
        log.close()
        store.close()


def ping(settings: Settings) -> int:
    """One ping into each partition of the assets' topic; answers how many. Edges take the same path."""
    producer = Producer({"bootstrap.servers": settings.kafka_bootstrap, "acks": "all", "log_level": 2})
    partitions = producer.list_topics(topics.ASSETS, timeout=15).topics[topics.ASSETS].partitions
    for partition in partitions:
        producer.produce(topics.ASSETS, orjson.dumps({"type": PING}), partition=partition)
    if producer.flush(15):
        raise Transient("Kafka did not take the warm-up events in time.")
    return len(partitions)
