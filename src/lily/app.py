"""The only wiring: which parts make which process."""

import signal
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import psycopg
from confluent_kafka import Consumer

from lily.bus import offsets, topics
from lily.bus.offsets import Offsets
from lily.gate import wait_for_engines
from lily.model.errors import Terminal
from lily.observe import logs, traces
from lily.settings import Settings

if TYPE_CHECKING:
    from lily.reactions.status import ReactionStatus

QUERIES = ("hot", "lake", "quality")


def run_api(settings: Settings) -> None:
    _require(settings)
    _configure("api", settings)
    if settings.api.workers > 1:
        from lily.api.workers import serve_workers  # this process only watches the others, and needs no FastAPI

        wait_for_engines()
        serve_workers(settings)
    else:
        from lily.api.server import serve  # FastAPI is heavy, and only the process that serves needs it

        wait_for_engines()
        serve(settings)


def run_pipeline(settings: Settings, queries: Sequence[str] = QUERIES) -> None:
    from lily.pipeline.runner import Runner  # so is Spark

    if unknown := sorted(set(queries) - set(QUERIES)):
        raise Terminal(f"Unknown queries: {', '.join(unknown)}. Known: {', '.join(QUERIES)}.")
    _require(settings)
    _configure("pipeline", settings)
    Runner(settings, queries, _stop_on_signal()).run()


def run_worker(settings: Settings, only: Sequence[str] = ()) -> None:
    from lily.reactions.worker import RESIDENTS, Worker  # the CLI starts without Kafka's and PostgreSQL's libraries

    _require(settings)
    _configure("worker", settings)
    stop = _stop_on_signal()
    wait_for_engines(stop)
    Worker(settings, stop, only or RESIDENTS).run()


def log_ends(settings: Settings, of: Sequence[str] = topics.INTAKE) -> Offsets:
    """Where topics end right now, those of both lanes by default. Raises KafkaException if the log does not answer."""
    consumer = Consumer({**settings.brokers.client(), "group.id": "lily-lag"})
    try:
        return offsets.read_ends(consumer, of, timeout=5)
    finally:
        consumer.close()


def lag(settings: Settings, until: Offsets | None = None) -> dict[str, int]:
    """For each lane's topic: how many events the catalogue is behind the log, or behind where it ended earlier."""
    with psycopg.connect(settings.database_url) as connection:
        rows = connection.execute("select topic, partition, next_offset from applied").fetchall()
    applied = {(topic, partition): offset for topic, partition, offset in rows}
    return offsets.lag_by_topic(log_ends(settings) if until is None else until, applied)


def reactions(settings: Settings, workers: Sequence[str] = ()) -> "dict[str, ReactionStatus]":
    """By reaction, how it is doing. `workers` are the addresses of the workers' metrics."""
    from lily.reactions.status import TOPICS, reaction_status

    return reaction_status(settings.database_url, log_ends(settings, TOPICS), workers)


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
