"""Compaction: merges the runs of `assets` in the background, without blocking the stream.

Runs of similar size are merged once there are enough of them. So a row is rewritten only a few times, however large the
table grows, and a look-up reads few runs. A compaction replaces runs that no batch writes to any more, and batches only
append new runs, so the two never conflict. A compaction that fails leaves everything as it was.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

import pyarrow as pa
import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.pipeline.lake.iceberg import LakeTable
from lily.pipeline.lake.maintenance import maintain
from lily.pipeline.lake.row_merge import merge_sorted
from lily.pipeline.session import LAKE_NICENESS, use_pool, worker_niceness
from lily.settings import Lake
from lily.store.lake import tables
from lily.store.lake.rows import STATE_SCHEMA

STATE_DDL = ", ".join(f"{field.name} {'bigint' if field.type == pa.int64() else 'string'}" for field in STATE_SCHEMA)
BACKLOG_FACTOR = 3  # times `merge_runs`: the number of runs that look-ups may have to read during a flood of events
SMALL_RUN = 20_000  # rows; all smaller runs count as the same size
ROWS_PER_FILE = 500  # a file costs as much as so many rows, so a run of many small tenants counts as a large one
_log = structlog.get_logger()


class Compaction:
    """Runs in a background thread while there is work. A failure is logged, and the next start tries again."""

    def __init__(
        self, spark: SparkSession, settings: Lake, stop: threading.Event, last_batch: Callable[[], int]
    ) -> None:
        self._spark, self._settings, self._stop, self._last_batch = spark, settings, stop, last_batch
        self._done = last_batch()
        self._maintained = time.monotonic()
        self._thread: threading.Thread | None = None

    def start_if_due(self, is_quiet: Callable[[], bool]) -> None:
        """Starts if batches were written since the last start and none is in progress. While events are waiting to be
        written, it starts only if so many batches have accumulated that look-ups would become slow."""
        waiting = self._last_batch() - self._done
        if waiting == 0 or (self._thread is not None and self._thread.is_alive()):
            return
        if waiting > BACKLOG_FACTOR * self._settings.merge_runs or is_quiet():
            self._done = self._last_batch()
            self._thread = threading.Thread(target=self._work, name="compaction", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Waits for the work in progress; a job of a stopped session ends by itself."""
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _work(self) -> None:
        use_pool(self._spark, "lake")
        try:
            for runs in due(self._finished(), self._settings.merge_runs):
                if self._stop.is_set():
                    return
                began = time.monotonic()
                compact(self._spark, runs)
                _log.info("compacted", query="lake", runs=len(runs), seconds=round(time.monotonic() - began, 2))
            if time.monotonic() - self._maintained > self._settings.maintain_minutes * 60:
                self._maintained = time.monotonic()
                maintain(self._spark, timedelta(hours=self._settings.keep_hours))
        except (PySparkException, Py4JError) as error:
            _log.warning("compaction failed, the next one tries again", query="lake", error=str(error)[:500])

    def _finished(self) -> dict[int, int]:
        """A batch that fails between its two commits is repeated under the same number, with more rows. If its run were
        replaced in between, the additional rows would be lost, so only runs of finished batches are merged."""
        return {run: rows for run, rows in sizes(self._spark).items() if run <= self._done}


def sizes(spark: SparkSession) -> dict[int, int]:
    """The cost of rewriting each run, in rows."""
    files = spark.table(f"{tables.identifier(tables.ASSETS)}.files")
    size = F.sum(F.col("record_count") + ROWS_PER_FILE)
    rows = files.groupBy(F.col("partition.run").alias("run")).agg(size.alias("size")).collect()
    return {row["run"]: row["size"] for row in rows}


def due(sizes: dict[int, int], enough: int) -> list[list[int]]:
    """The groups of similarly sized runs that are large enough to be merged, smallest runs first."""
    levels: defaultdict[int, list[int]] = defaultdict(list)
    for run, rows in sizes.items():
        level, bound = 0, SMALL_RUN
        while rows > bound:
            level, bound = level + 1, bound * enough
        levels[level].append(run)
    return [sorted(runs) for _, runs in sorted(levels.items()) if len(runs) >= enough]


def compact(spark: SparkSession, runs: Sequence[int]) -> None:
    """Replaces the runs by one that has one row per asset."""
    chosen = F.col("run").isin(list(runs))
    rows = spark.table(tables.identifier(tables.ASSETS)).where(chosen).select(*STATE_SCHEMA.names)
    buckets = LakeTable(spark, tables.ASSETS).target().buckets
    bucket = F.expr(f"{tables.CATALOG}.system.bucket({buckets}, place)")
    ordered = rows.repartition("tenant", bucket).sortWithinPartitions("tenant", bucket, "id")
    with worker_niceness(spark, LAKE_NICENESS):
        merged = ordered.mapInArrow(partial(merge_sorted, run=max(runs)), STATE_DDL)
    (
        merged.writeTo(tables.identifier(tables.ASSETS))
        # The rows are already grouped by bucket, so one file is open at a time, however many tenants there are.
        .option("distribution-mode", "none")
        .option("fanout-enabled", "false")
        .overwrite(chosen)
    )
