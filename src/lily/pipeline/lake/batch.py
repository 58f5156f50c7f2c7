"""Writes one micro-batch to the lake: every event of both lanes for good, and the states made of them.

The tasks of a batch write the files of both tables; then there are two commits. The first adds the states to `assets`.
Repeating it after a crash does no harm, because the same states merge to the same assets. The second adds the events to
`events`, with the batch's number and its end offsets in the snapshot's summary. The query starts where the last such
commit ends, so each event is in `events` exactly once, whatever happened between the two commits; a driver that another
one has replaced cannot commit (`fence.py`). Spark's own checkpoint is not used for recovery.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from lily.bus.authority import SigningKey
from lily.pipeline.lake.commits import Commit
from lily.pipeline.lake.iceberg import LakeTable
from lily.pipeline.lake.task import OUTPUT, PartitionReport, TaskSettings, read_output, write_partition
from lily.pipeline.session import LAKE_NICENESS, worker_niceness
from lily.store.lake import tables
from lily.store.lake.data_file_writer import WrittenFile


@dataclass(frozen=True)
class PreparedBatch:
    """A batch whose files are written but not committed."""

    commit: Commit
    files: list[WrittenFile]
    reports: list[PartitionReport]


@dataclass(frozen=True)
class LakeBatch:
    """Must be called with one micro-batch after the other, in order."""

    spark: SparkSession
    database_url: str
    skew: timedelta
    tasks: int  # at most; 0 for one per Kafka partition
    io_properties: Mapping[str, str]
    last: Callable[[], Commit]
    keys: Callable[[], Sequence[SigningKey]] = tuple  # verify claims of authority
    _tables: dict[str, LakeTable] = field(init=False)

    def __post_init__(self) -> None:
        found = {name: LakeTable(self.spark, name) for name in (tables.ASSETS, tables.EVENTS)}
        object.__setattr__(self, "_tables", found)

    def write(self, batch: DataFrame) -> PreparedBatch:
        prepared = self.prepare(batch)
        self.append_states(prepared)
        self.append_events(prepared)
        return prepared

    def prepare(self, batch: DataFrame) -> PreparedBatch:
        last, began = self.last(), time.time()
        targets = {name: table.target() for name, table in self._tables.items()}
        number = last.number + 1
        settings = TaskSettings(number, self.database_url, self.skew, targets, dict(self.io_properties), self.keys())
        records = batch.coalesce(self.tasks) if self.tasks else batch
        with worker_niceness(self.spark, LAKE_NICENESS):
            output = records.mapInArrow(partial(write_partition, settings=settings), OUTPUT)
        reports, files = read_output(output.collect())
        return PreparedBatch(last.next(reports, began), files, reports)

    def append_states(self, prepared: PreparedBatch) -> None:
        files = [file for file in prepared.files if file.table == tables.ASSETS]
        if files:
            self._tables[tables.ASSETS].append(files, {}, run=prepared.commit.number)

    def append_events(self, prepared: PreparedBatch) -> None:
        files = [file for file in prepared.files if file.table == tables.EVENTS]
        commit = prepared.commit
        self._tables[tables.EVENTS].append(files, commit.as_properties(), follows=commit.number - 1)
