"""The only wiring: which parts make which process."""

import signal
import threading
from collections.abc import Sequence

import psycopg
from confluent_kafka import Consumer, TopicPartition

from lily.bus import topics
from lily.model.errors import Terminal
from lily.observe import logs, traces
from lily.settings import Settings

QUERIES = ("hot",)


def run_api(settings: Settings) -> None:
    from lily.api.server import serve  # FastAPI is heavy, and only this process needs it

    _require(settings)
    _configure("api", settings)
    serve(settings)


def run_pipeline(settings: Settings, queries: Sequence[str] = QUERIES) -> None:
    from lily.pipeline.runner import Runner  # so is Spark

    if unknown := sorted(set(queries) - set(QUERIES)):
        raise Terminal(f"Unknown queries: {', '.join(unknown)}. Known: {', '.join(QUERIES)}.")
    _require(settings)
    _configure("pipeline", settings)
    Runner(settings, _stop_on_signal()).run()


def run_worker(settings: Settings) -> None:
    from lily.relay import Relay  # the CLI starts without Kafka's and PostgreSQL's libraries

    _require(settings)
    _configure("worker", settings)
    Relay(settings, _stop_on_signal()).run()


def lag(settings: Settings) -> dict[str, int]:
    """For each topic that a query applies: how many events it is behind the log."""
    with psycopg.connect(settings.database_url) as connection:
        applied: dict[int, int] = dict(
            connection.execute(
                "select partition, next_offset from applied where topic = %s", [topics.ASSETS]
            ).fetchall()
        )
    consumer = Consumer({"bootstrap.servers": settings.kafka_bootstrap, "group.id": "lily-lag", "log_level": 2})
    try:
        partitions = consumer.list_topics(topics.ASSETS, timeout=5).topics[topics.ASSETS].partitions
        ends = {p: consumer.get_watermark_offsets(TopicPartition(topics.ASSETS, p), timeout=5)[1] for p in partitions}
    finally:
        consumer.close()
    return {topics.ASSETS: sum(max(end - applied.get(p, 0), 0) for p, end in ends.items())}


def _require(settings: Settings) -> None:
    for value, name in (
        (settings.kafka_bootstrap, "LILY_KAFKA_BOOTSTRAP"),
        (settings.database_url, "LILY_DATABASE_URL"),
    ):
        if not value:
            raise Terminal(
                f"{name} is not set. `lily up` sets it for the embedded stack; a real deployment sets it itself."
            )


def _configure(part: str, settings: Settings) -> None:
    logs.configure(part, settings.log_level)
    traces.configure(part, settings.otlp_endpoint)


def _stop_on_signal() -> threading.Event:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop
