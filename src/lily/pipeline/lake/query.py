"""The lake query: creates the tables, starts at the lake's last commit, and yields to the hot lane."""

import threading
import time
from collections import deque
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from pyspark.sql import DataFrame, SparkSession

from lily.bus import topics
from lily.bus.authority import SigningKeys
from lily.bus.offsets import Offsets
from lily.pipeline.lake.batch import LakeBatch
from lily.pipeline.lake.commits import Commit, last_commit
from lily.pipeline.lake.compaction import Compaction
from lily.pipeline.lake.lookups import Asset, LakeLookups
from lily.pipeline.lake.pacing import Pacing
from lily.pipeline.lake.promotion import promote, set_parents
from lily.pipeline.lake.restored import adopt_newest_metadata, align, list_parents
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets
from lily.pipeline.source import KafkaSource, start_query
from lily.settings import Settings
from lily.store.lake import tables
from lily.store.lake.data_files import io_properties
from lily.store.postgres.access.secrets import read_master_keys
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.lake.commits import LakeLedger
from lily.store.postgres.propagation.propagator import Propagator

TOPICS = (topics.ASSETS, topics.ASSETS_BULK)
POLL_SECONDS = 1.0
PAUSE_POLL_SECONDS = 0.5  # while events are collected for the next batch
QUIET_SECONDS = 3.0  # between a batch and a compaction, because another batch may follow
_log = structlog.get_logger()


class LakeQuery:
    def __init__(self, settings: Settings, stop: threading.Event, metrics: PipelineMetrics) -> None:
        self._settings, self._stop, self._metrics = settings, stop, metrics

    def run(self, spark: SparkSession, checkpoint: Path) -> None:
        """Returns when it is stopped. Raises when the query fails or cannot start."""
        ledger = LakeLedger(self._settings.database_url)
        log = LogOffsets(self._settings.brokers, "lily-lake")
        store, propagator = CatalogueWriter(self._settings.database_url), Propagator(self._settings.database_url)
        try:
            adopt_newest_metadata(ledger, io_properties(self._settings.s3))
            for statement in tables.definitions(self._settings.lake.buckets):
                spark.sql(statement)
            LakeRun(
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


class LakeRun:
    """One run of the query, from its start until it fails or is stopped."""

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
        self._ending = threading.Event()  # of the query: nothing may keep it waiting
        self._write_lock = threading.Lock()  # a promotion during a batch would miss that batch's events
        self._written_at = 0.0
        self._expected: set[Asset] = set()  # columns that the batches written so far do not have
        self._ends_at_start: Offsets = {}
        self._ends_read_at = datetime.min.replace(tzinfo=UTC)
        self._pending_ends: deque[tuple[datetime, Offsets]] = (
            deque()
        )  # the log's ends that the lake has not reached, by time
        self._lookups = LakeLookups(spark, io_properties(settings.s3))
        self._batch = LakeBatch(
            spark,
            settings.database_url,
            timedelta(seconds=settings.limits.future_skew_seconds),
            settings.lake.tasks,
            io_properties(settings.s3),
            lambda: self._last,
            SigningKeys(settings.master_key_file, read_master_keys),
        )

    def run(self, checkpoint: Path) -> None:
        self._recover()
        starts = self._log.starts(TOPICS, self._last.next_offsets)
        lake = self._settings.lake
        source = KafkaSource(self._settings.brokers, TOPICS, starts, lake.batch_events)
        # What arrives after a rest is written soon: `_pause` keeps batches apart, not the trigger.
        trigger_ms = int(min(lake.trigger_seconds, POLL_SECONDS) * 1000)
        query = start_query(
            "lake", source.records(self._spark), self._write, checkpoint=checkpoint, trigger_ms=trigger_ms
        )
        compaction = Compaction(self._spark, lake, self._stop, lambda: self._last.number)
        _log.info("started", query="lake", batch=self._last.number)
        try:
            while not self._stop.is_set() and not query.awaitTermination(POLL_SECONDS):
                self._record_freshness()
                self._promote_between_batches()
                compaction.start_if_due(self._is_quiet)
        finally:
            self._ending.set()
            query.stop()
            compaction.close()

    def _recover(self) -> None:
        """Continues from the newest commit, and records it in PostgreSQL in case the last process did not. That process
        may have added the states of a batch that this one has to repeat: of no event that is not in the log by now."""
        last = last_commit(self._spark)
        self._last = last.commit
        self._ends_at_start = self._log.ends([topics.ASSETS])
        align(self._spark, self._ledger, last.commit)
        list_parents(self._spark, self._ledger)
        if last.commit.number:
            self._record(last.commit, last.committed_at)

    def _record(self, commit: Commit, committed_at: datetime | None = None) -> None:
        self._ledger.record(
            commit.number, commit.events, commit.next_offsets, advances=topics.ASSETS_BULK, committed_at=committed_at
        )

    def _write(self, batch: DataFrame) -> None:
        self._yield_to_hot_lane()
        if self._ending.is_set():
            return  # not written, so it is read again from the lake's last commit
        began = time.monotonic()
        self._write_batch(batch, began)
        self._pause(began)

    def _write_batch(self, batch: DataFrame, began: float) -> None:
        with self._write_lock:
            written = self._batch.write(batch)
            self._last = commit = written.commit
            self._record(commit)
            promoted = self._promote()
            overdue, self._expected = self._expected, set()
            self._set_parents(overdue)
        self._written_at = time.monotonic()
        seconds = self._written_at - began
        self._metrics.unsigned.inc(sum(report.unsigned for report in written.reports))
        self._metrics.count_lake(commit.events, sum(report.refused for report in written.reports), promoted, seconds)
        _log.info("committed", query="lake", batch=commit.number, events=commit.events, seconds=round(seconds, 2))

    def _pause(self, began: float) -> None:
        """Lets events collect for the next batch, if this one has not taken as long as that."""
        apart = self._settings.lake.trigger_seconds
        pacing = Pacing(began, apart)
        while time.monotonic() < began + apart and not self._ending.wait(min(PAUSE_POLL_SECONDS, apart)):
            if pacing.is_over(time.monotonic(), self._log.ends([topics.ASSETS_BULK]), self._last.next_offsets):
                return

    def _promote_between_batches(self) -> None:
        """If the lake was ahead of the hot lane, there may be no further batch to promote with."""
        if self._write_lock.acquire(blocking=False):
            try:
                self._metrics.lake_promoted.inc(self._promote())
                self._set_parents()
            finally:
                self._write_lock.release()

    def _promote(self) -> int:
        """Not while the lake is ahead of the hot lane, which may refuse events that the lake has."""
        applied = self._ledger.applied(topics.ASSETS)
        ends = (*self._last.next_offsets.items(), *self._ends_at_start.items())
        if any(applied.get(at, 0) < end for (topic, at), end in ends if topic == topics.ASSETS):
            return 0
        return promote(self._lookups, self._store, timedelta(seconds=self._settings.limits.future_skew_seconds))

    def _set_parents(self, overdue: Collection[Asset] = ()) -> None:
        set_parents(self._lookups, self._propagator, self._expected if self._pending_ends else None, overdue)

    def _yield_to_hot_lane(self) -> None:
        """Waits while the hot lane is behind, unless the lake would fall too far behind itself."""
        limit = timedelta(seconds=self._settings.lake.patience_seconds)
        while not self._stop.is_set() and not self._ending.is_set() and self._behind() < limit:
            if self._hot_lag() <= self._settings.lake.yield_events:
                return
            self._metrics.lake_yields.inc()
            self._stop.wait(0.5)

    def _behind(self) -> timedelta:
        """An upper bound for how long the oldest event that is not in the lake has been waiting."""
        try:
            return datetime.now(UTC) - self._pending_ends[0][0]
        except IndexError:
            return timedelta(0)

    def _hot_lag(self) -> int:
        ends, applied = self._log.ends([topics.ASSETS]), self._ledger.applied(topics.ASSETS)
        return sum(max(end - applied.get(at, 0), 0) for (_, at), end in ends.items())

    def _is_quiet(self) -> bool:
        """Whether no events are waiting and no batch was written just now."""
        if self._write_lock.locked() or time.monotonic() - self._written_at < QUIET_SECONDS:
            return False
        return self._reached(self._last, self._log.ends(TOPICS))

    def _record_freshness(self) -> None:
        """When the lake reaches the offsets where the log ended at some time, it is as fresh as that time."""
        now = datetime.now(UTC)
        interval = timedelta(seconds=max(self._settings.lake.trigger_seconds, POLL_SECONDS))
        if now - self._ends_read_at > interval:
            self._ends_read_at = now
            self._pending_ends.append((now, self._log.ends(TOPICS)))
        last = self._last
        fresh: datetime | None = None
        while self._pending_ends and self._reached(last, self._pending_ends[0][1]):
            fresh, _ = self._pending_ends.popleft()
        if fresh is not None:
            self._ledger.record_freshness(fresh, last.number)
            self._metrics.lake_fresh.set(fresh.timestamp())

    @staticmethod
    def _reached(commit: Commit, ends: Offsets) -> bool:
        return all(commit.next_offsets.get(partition, 0) >= end for partition, end in ends.items())
