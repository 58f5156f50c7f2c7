"""The propagation query in operation: started where it stopped, counted."""

import threading
import time
from pathlib import Path

import structlog
from pyspark.sql import SparkSession

from lily.pipeline import propagation
from lily.pipeline.lake.commits import Positions
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets, Offsets
from lily.settings import Settings
from lily.store.postgres.propagation.marks import Marks
from lily.store.postgres.propagation.propagator import Propagator

_log = structlog.get_logger()


class PropagationQuery:
    def __init__(self, settings: Settings, stop: threading.Event, metrics: PipelineMetrics) -> None:
        self._settings, self._stop, self._metrics = settings, stop, metrics
        self.ready = threading.Event()

    def run(self, spark: SparkSession, checkpoint: Path) -> None:
        """Returns when it is stopped; raises when the query fails."""
        propagator = Propagator(self._settings.database_url)
        try:
            query = propagation.start(
                spark,
                bootstrap=self._settings.kafka_bootstrap,
                starting_offsets=self._starting_offsets(propagator),
                checkpoint=str(checkpoint),
                trigger_ms=self._settings.propagation.trigger_ms,
                batch_events=self._settings.propagation.batch_events,
                attributes=propagator.rule_attributes,
                apply=lambda marks, ends: self._apply(propagator, marks, ends),
            )
            try:
                self.ready.set()
                _log.info("ready", query="propagation")
                while not self._stop.is_set() and not query.awaitTermination(1):
                    pass
            finally:
                self.ready.clear()
                query.stop()
        finally:
            propagator.close()

    def _apply(self, propagator: Propagator, marks: dict[str, Marks], ends: Offsets) -> None:
        for tenant, dirty in marks.items():
            began = time.monotonic()
            outcome = propagator.propagate(tenant, dirty)
            seconds = time.monotonic() - began
            self._metrics.count_propagation(len(dirty.assets) + len(dirty.edges), outcome, seconds)
        propagator.advance(ends)

    def _starting_offsets(self, propagator: Propagator) -> str:
        log = LogOffsets(self._settings.kafka_bootstrap, "lily-propagation")
        try:
            reached = {
                (topic, at): offset for topic in propagation.READ for at, offset in propagator.positions(topic).items()
            }
            return Positions(log.starts(propagation.READ, reached)).as_json()
        finally:
            log.close()
