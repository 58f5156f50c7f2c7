"""The lake query in operation: its tables made, started where the lake stands, kept from the hot lane's way."""

import threading
import time
from collections import deque
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from pyspark.sql import DataFrame, SparkSession

from lily.bus import topics
from lily.pipeline.lake import stream
from lily.pipeline.lake.commits import Commit, Positions, last_commit
from lily.pipeline.lake.compaction import Compaction
from lily.pipeline.lake.lookups import LakeLookups
from lily.pipeline.lake.promotion import place, promote
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets, Offsets
from lily.settings import Settings
from lily.store.lake import tables
from lily.store.lake.data_files import io_properties
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.lake.commits import LakeLedger
from lily.store.postgres.propagation.propagator import Propagator

WATCH_SECONDS = 1.0
QUIET_SECONDS = 3.0  # after a batch, before compaction: another one may be about to come
_log = structlog.get_logger()


class LakeQuery:
    def __init__(self, settings: Settings, stop: threading.Event, metrics: PipelineMetrics) -> None:
        self._settings, self._stop, self._metrics = settings, stop, metrics

    def run(self, spark: SparkSession, checkpoint: Path) -> None:
        """Returns when it is stopped; raises when the query fails or cannot be started."""
        ledger = LakeLedger(self._settings.database_url)
        log = LogOffsets(self._settings.kafka_bootstrap, "lily-lake")
        store, propagator = CatalogueWriter(self._settings.database_url), Propagator(self._settings.database_url)
        try:
            for statement in tables.definitions(self._settings.lake.buckets):
                spark.sql(statement)
            Running(
                spark=spark,
                settings=self._settings,
                stop=self._stop,
                metrics=self._metrics,
                ledger=ledger,
                log=log,
                store=store,
                propagator=propagator,
            ).run(checkpoint)
        finally:
            propagator.close()
            store.close()
            log.close()
            ledger.close()


class Running:
    """One start of the query, until it fails or is stopped."""

    def __init__(
        self,
        *,
        spark: SparkSession,
        settings: Settings,
        stop: threading.Event,
        metrics: PipelineMetrics,
        ledger: LakeLedger,
        log: LogOffsets,
        store: CatalogueWriter,
        propagator: Propagator,
    ) -> None:
        self._spark, self._settings, self._stop, self._metrics = spark, settings, stop, metrics
        self._ledger, self._log, self._store, self._propagator = ledger, log, store, propagator
        self._last = Commit()
        self._turn = threading.Lock()  # a promotion beside a batch would settle an asset without that batch's events
        self._written = 0.0
        self._looked = datetime.min.replace(tzinfo=UTC)
        self._ahead: deque[tuple[datetime, Offsets]] = deque()  # where the log ended, and when
        self._lookups = LakeLookups(spark, io_properties(settings.s3))
        self._batch = stream.LakeBatch(
            spark,
            settings.database_url,
            timedelta(seconds=settings.limits.future_skew_seconds),
            settings.lake.tasks,
            io_properties(settings.s3),
            lambda: self._last,
        )

    def run(self, checkpoint: Path) -> None:
        self._recover()
        starts = Positions(self._log.starts(stream.TOPICS, self._last.positions.next_offsets))
        query = stream.start(
            self._spark,
            bootstrap=self._settings.kafka_bootstrap,
            positions=starts,
            checkpoint=str(checkpoint),
            trigger_seconds=self._settings.lake.trigger_seconds,
            batch_events=self._settings.lake.batch_events,
            write=self._write,
        )
        compaction = Compaction(self._spark, self._settings.lake, self._stop, lambda: self._last.number)
        _log.info("started", query="lake", batch=self._last.number)
        try:
            while not self._stop.is_set() and not query.awaitTermination(WATCH_SECONDS):
                self._note_freshness()
                self._promote_between_batches()
                compaction.go_on(self._is_quiet)
        finally:
            query.stop()
            compaction.close()

    def _recover(self) -> None:
        """Goes on from the newest commit there is, and tells PostgreSQL of it, in case the last process could not."""
        found = last_commit(self._spark)
        self._last = found.commit
        if found.commit.number:
            self._record(found.commit, found.committed_at and found.committed_at.astimezone(UTC))

    def _record(self, commit: Commit, committed_at: datetime | None = None) -> None:
        offsets = commit.positions.next_offsets
        self._ledger.record(
            commit.number, commit.events, offsets, advances=topics.ASSETS_BULK, committed_at=committed_at
        )

    def _write(self, batch: DataFrame) -> None:
        self._let_the_hot_lane_pass()
        began = time.monotonic()
        with self._turn:
            written = self._batch.write(batch)
            self._last = commit = written.commit
            self._record(commit)
            promoted = promote(self._lookups, self._store)
            place(self._lookups, self._propagator)
        self._written = time.monotonic()
        seconds = self._written - began
        self._metrics.count_lake(commit.events, sum(report.refused for report in written.reports), promoted, seconds)
        _log.info("committed", query="lake", batch=commit.number, events=commit.events, seconds=round(seconds, 2))

    def _promote_between_batches(self) -> None:
        """Where the lake was ahead of the hot lane, no further batch may come that would do it."""
        if self._turn.acquire(blocking=False):
            try:
                self._metrics.lake_promoted.inc(promote(self._lookups, self._store))
                place(self._lookups, self._propagator)
            finally:
                self._turn.release()

    def _let_the_hot_lane_pass(self) -> None:
        """Waits while the hot lane is behind, unless the lake itself falls too far behind by that."""
        patience = timedelta(seconds=self._settings.lake.patience_seconds)
        while not self._stop.is_set() and self._behind() < patience:
            if self._hot_lag() <= self._settings.lake.yield_events:
                return
            self._metrics.lake_yields.inc()
            self._stop.wait(0.5)

    def _behind(self) -> timedelta:
        """How long the oldest event that is not in the lake has been waiting, at most."""
        try:
            return datetime.now(UTC) - self._ahead[0][0]
        except IndexError:
            return timedelta(0)

    def _hot_lag(self) -> int:
        ends, applied = self._log.ends([topics.ASSETS]), self._ledger.applied(topics.ASSETS)
        return sum(max(end - applied.get(at, 0), 0) for (_, at), end in ends.items())

    def _is_quiet(self) -> bool:
        """Whether nothing waits and nothing was written just now."""
        if self._turn.locked() or time.monotonic() - self._written < QUIET_SECONDS:
            return False
        return self._reached(self._last, self._log.ends(stream.TOPICS))

    def _note_freshness(self) -> None:
        """Once the lake has reached where the log ended at some moment, it is as fresh as that moment."""
        now = datetime.now(UTC)
        pause = timedelta(seconds=max(self._settings.lake.trigger_seconds, WATCH_SECONDS))
        if now - self._looked > pause:
            self._looked = now
            self._ahead.append((now, self._log.ends(stream.TOPICS)))
        last = self._last
        fresh: datetime | None = None
        while self._ahead and self._reached(last, self._ahead[0][1]):
            fresh, _ = self._ahead.popleft()
        if fresh is not None:
            self._ledger.fresh(fresh, last.number)
            self._metrics.lake_fresh.set(fresh.timestamp())

    @staticmethod
    def _reached(commit: Commit, ends: Offsets) -> bool:
        return all(commit.positions.next_offsets.get(at, 0) >= end for at, end in ends.items())
