"""Keeps the queries running: starts them where the catalogue stands, proves them warm, restarts them when they fail."""

import json
import shutil
import threading
import time
import uuid
from datetime import timedelta
from pathlib import Path

import orjson
import psycopg
import structlog
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lily.bus import topics
from lily.model.errors import Terminal, Transient
from lily.observe.probes import serve_probes
from lily.pipeline import hot
from lily.pipeline.judge import PING
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.session import open_session
from lily.settings import Settings
from lily.store.postgres.hot import HotStore

WARM_ROUNDS = 4  # the first batches compile and load; afterwards a batch takes a tenth of a second
_BACKOFF = (0.5, 1, 2, 5, 10)
_log = structlog.get_logger()


class Runner:
    """Runs until `stop` is set. A failing query is started again; a lost JVM ends the process for its supervisor."""

    def __init__(self, settings: Settings, stop: threading.Event) -> None:
        self._settings, self._stop = settings, stop
        self._metrics = PipelineMetrics()
        self._ready = threading.Event()
        self._seen = 0

    def run(self) -> None:
        if self._settings.metrics_port:
            serve_probes(self._settings.host, self._settings.metrics_port, self._metrics.registry, self._ready.is_set)
        spark = open_session(self._settings)
        failures = 0
        while not self._stop.is_set():
            started = time.monotonic()
            try:
                self._run_query(spark)
            except (PySparkException, Transient, KafkaException, psycopg.OperationalError) as error:
                failures = 0 if time.monotonic() - started > 60 else failures + 1
                self._ready.clear()
                self._metrics.restarts.inc()
                _log.error("query failed, starting it again", query="hot", error=str(error)[:2000])
                self._stop.wait(_BACKOFF[min(failures, len(_BACKOFF) - 1)])
            except (Py4JNetworkError, ConnectionError) as error:
                raise Terminal("The Spark process is gone; the supervisor starts the pipeline again.") from error
        spark.stop()

    def _run_query(self, spark: SparkSession) -> None:
        checkpoint = self._fresh_checkpoint()
        query = hot.start(
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
            if not self._ready.is_set():
                self._warm(query)
            while not self._stop.is_set() and not query.awaitTermination(1):
                pass
        finally:
            query.stop()

    def _count(self, reports: list[Row], seconds: float) -> None:
        self._seen += sum(report["events"] for report in reports)
        self._metrics.count(reports, seconds)

    def _fresh_checkpoint(self) -> Path:
        """Progress is kept in PostgreSQL, with the data. Spark's checkpoint is scratch and never outlives a start."""
        checkpoints = self._settings.data_dir.resolve() / "spark" / "checkpoints"
        shutil.rmtree(checkpoints, ignore_errors=True)
        return checkpoints / uuid.uuid4().hex

    def _warm(self, query: StreamingQuery) -> None:
        """Sends pings through everything until the path is fast, so that the first real event is."""
        for _ in range(WARM_ROUNDS):
            goal = self._seen + ping(self._settings)
            while self._seen < goal and not self._stop.is_set():
                if query.awaitTermination(0.05):
                    return
        self._ready.set()
        _log.info("ready", query="hot")


def starting_offsets(settings: Settings) -> str:
    """Where the catalogue stands, for each partition there is; the beginning for one that was never applied."""
    store = HotStore(settings.database_url)
    try:
        applied = store.positions(topics.ASSETS)
    finally:
        store.close()
    consumer = Consumer({"bootstrap.servers": settings.kafka_bootstrap, "group.id": "lily-positions", "log_level": 2})
    try:
        partitions = consumer.list_topics(topics.ASSETS, timeout=15).topics[topics.ASSETS].partitions
        offsets = {str(p): _start(consumer, p, applied.get(p)) for p in partitions}
    finally:
        consumer.close()
    return json.dumps({topics.ASSETS: offsets})


def _start(consumer: Consumer, partition: int, applied: int | None) -> int:
    low, high = consumer.get_watermark_offsets(TopicPartition(topics.ASSETS, partition), timeout=15)
    start = low if applied is None else applied
    if not low <= start <= high:
        raise Terminal(
            f"The log no longer holds offset {start} of {topics.ASSETS}/{partition} (it has {low} to {high}), so "
            "events would be lost. Restore the log, or accept the loss by updating the table `applied`."
        )
    return start


def ping(settings: Settings) -> int:
    """One ping into each partition; answers how many."""
    producer = Producer({"bootstrap.servers": settings.kafka_bootstrap, "acks": "all", "log_level": 2})
    partitions = producer.list_topics(topics.ASSETS, timeout=15).topics[topics.ASSETS].partitions
    for partition in partitions:
        producer.produce(topics.ASSETS, orjson.dumps({"type": PING}), partition=partition)
    if producer.flush(15):
        raise Transient("Kafka did not take the warm-up events in time.")
    return len(partitions)
