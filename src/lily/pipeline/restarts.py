"""Keeps a query running: restarts it after a failure, with a growing delay."""

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
_RECOVERED_SECONDS = 60  # after so long without a failure the delay starts from the beginning
_log = structlog.get_logger()

FAILURES = (PySparkException, Transient, KafkaException, psycopg.OperationalError)


def keep_running(name: str, run: Callable[[], None], stop: threading.Event, metrics: PipelineMetrics) -> None:
    """Returns when `stop` is set. Raises Terminal if the Spark process has ended, or if the query raises Terminal."""
    failures = 0
    while not stop.is_set():
        started = time.monotonic()
        try:
            run()
        except FAILURES as error:
            failures = 0 if time.monotonic() - started > _RECOVERED_SECONDS else failures + 1
            metrics.restarts.labels(name).inc()
            _log.error("query failed, restarting it", query=name, error=str(error)[:2000])
            stop.wait(_BACKOFF[min(failures, len(_BACKOFF) - 1)])
        except (Py4JNetworkError, ConnectionError) as error:
            raise Terminal("The Spark process has ended; the supervisor restarts the pipeline.") from error


def keep_running_in_thread(
    name: str, run: Callable[[], None], stop: threading.Event, metrics: PipelineMetrics
) -> threading.Thread:
    """Keeps a query running in its own thread, so that its failures do not affect the process or the other query. A
    Terminal error is logged and the query is tried again, because someone may have fixed the cause."""

    def run_forever() -> None:
        while not stop.is_set():
            try:
                keep_running(name, run, stop, metrics)
            except Terminal as error:
                _log.error("query cannot run", query=name, error=str(error))
            except Py4JError as error:
                _log.error("query failed unexpectedly", query=name, error=str(error)[:2000])
            stop.wait(_BACKOFF[-1])

    thread = threading.Thread(target=run_forever, name=name, daemon=True)
    thread.start()
    return thread
