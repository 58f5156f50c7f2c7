"""Keeps one query running: what fails is started again, ever more slowly."""

import threading
import time
from collections.abc import Callable

import psycopg
import structlog
from confluent_kafka import KafkaException
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from lily.model.errors import Terminal, Transient
from lily.pipeline.metrics import PipelineMetrics

_BACKOFF = (0.5, 1, 2, 5, 10)
_CALM_SECONDS = 60  # a query that ran so long has recovered, and its next failure is a first one
_log = structlog.get_logger()

FAILURES = (PySparkException, Transient, KafkaException, psycopg.OperationalError)


def keep_running(name: str, run: Callable[[], None], stop: threading.Event, metrics: PipelineMetrics) -> None:
    """Returns when `stop` is set. Raises Terminal if the Spark process is gone, or if the query says that no further
    attempt can help."""
    failures = 0
    while not stop.is_set():
        started = time.monotonic()
        try:
            run()
        except FAILURES as error:
            failures = 0 if time.monotonic() - started > _CALM_SECONDS else failures + 1
            metrics.restarts.labels(name).inc()
            _log.error("query failed, starting it again", query=name, error=str(error)[:2000])
            stop.wait(_BACKOFF[min(failures, len(_BACKOFF) - 1)])
        except (Py4JNetworkError, ConnectionError) as error:
            raise Terminal("The Spark process is gone; the supervisor starts the pipeline again.") from error


def keep_beside(
    name: str, run: Callable[[], None], stop: threading.Event, metrics: PipelineMetrics
) -> threading.Thread:
    """Keeps a query running in a thread of its own. Whatever is wrong with it, the process and the other query go on:
    what no attempt can mend is told, and tried again all the same, because a person may have mended it."""

    def patient() -> None:
        while not stop.is_set():
            try:
                keep_running(name, run, stop, metrics)
            except Terminal as error:
                _log.error("query cannot run", query=name, error=str(error))
            except Py4JError as error:
                _log.error("query failed in a way not foreseen", query=name, error=str(error)[:2000])
            stop.wait(_BACKOFF[-1])

    thread = threading.Thread(target=patient, name=name, daemon=True)
    thread.start()
    return thread
