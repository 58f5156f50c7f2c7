"""The lake query: every event of both lanes, kept for good, and what the events amount to.

The tasks of a batch write the files of both tables; then there are two commits. First the states go to `assets`;
committed again after a crash they join to the same assets, so no harm is done. Then the events go to `events`, and that
commit carries the batch's number and the positions it ends at. The query starts where the last such commit ends, so
each event is in `events` exactly once, whatever happened between the two, and Spark's own checkpoint is scratch.

Events of the bulk lane are judged here, so here they are refused; and where they concern an asset that PostgreSQL
holds too, they are merged there in the same breath.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pyiceberg.io import load_file_io
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lily.bus import topics
from lily.model.records import Record, Refusal
from lily.model.states import AssetState, merge_states
from lily.pipeline.arrow_records import cuts, read_records
from lily.pipeline.connections import with_store
from lily.pipeline.lake.commits import Commit, Positions
from lily.pipeline.lake.iceberg import LakeTable
from lily.pipeline.session import worker_niceness
from lily.pipeline.validation import judge
from lily.store.lake import tables
from lily.store.lake.data_file_writer import WriteTarget, WrittenFile, write_files
from lily.store.lake.rows import EVENT_SCHEMA, states_to_batch
from lily.store.postgres.catalogue.writer import CatalogueWriter

if TYPE_CHECKING:
    from lily.model.events import AssetEvent

TOPICS = (topics.ASSETS, topics.ASSETS_BULK)
NICENESS = 15  # nobody waits for a column as one waits for a table: the hot lane's processes go first
CUT_BYTES = 6 << 20  # what is judged at once: decoded, an event takes up to twenty times its bytes
FILE_BYTES = 64 << 20  # what a task gathers before it writes files: few and large, but a worker's memory is small
TOLD = (
    "topic string, partition int, next_offset long, events long, refused long, refreshed long,"
    "table string, path string, tenant string, bucket int, rows long, size long"
)
_TOLD_ARROW = pa.schema(
    [
        *(("topic", pa.string()), ("partition", pa.int32()), ("next_offset", pa.int64()), ("events", pa.int64())),
        *(("refused", pa.int64()), ("refreshed", pa.int64())),
        *((name, pa.string()) for name in ("table", "path", "tenant")),
        *(("bucket", pa.int32()), ("rows", pa.int64()), ("size", pa.int64())),
    ]
)


class Report(NamedTuple):
    """What a task read of one partition, and what became of it."""

    topic: str
    partition: int
    next_offset: int
    events: int
    refused: int  # of the bulk lane
    refreshed: int  # changes in PostgreSQL


@dataclass(frozen=True)
class Job:
    """What every task of a batch has to know."""

    run: int
    database_url: str
    skew: timedelta
    targets: Mapping[str, WriteTarget]
    io_properties: Mapping[str, str]


@dataclass(frozen=True)
class Prepared:
    """A batch whose files are written and not committed."""

    commit: Commit
    files: list[WrittenFile]
    reports: list[Report]


@dataclass(frozen=True)
class LakeBatch:
    """Writes one micro-batch after the other. Whoever calls it calls it in order."""

    spark: SparkSession
    database_url: str
    skew: timedelta
    tasks: int
    io_properties: Mapping[str, str]
    last: Callable[[], Commit]
    _tables: dict[str, LakeTable] = field(init=False)

    def __post_init__(self) -> None:
        found = {name: LakeTable(self.spark, name) for name in (tables.ASSETS, tables.EVENTS)}
        object.__setattr__(self, "_tables", found)

    def write(self, batch: DataFrame) -> Prepared:
        prepared = self.prepare(batch)
        self.append_states(prepared)
        self.append_events(prepared)
        return prepared

    def prepare(self, batch: DataFrame) -> Prepared:
        number, began = self.last().number + 1, time.time()
        targets = {name: table.target() for name, table in self._tables.items()}
        work = partial(
            write_partition, job=Job(number, self.database_url, self.skew, targets, dict(self.io_properties))
        )
        source = batch.coalesce(self.tasks) if self.tasks else batch
        records = source.select("topic", "partition", "offset", "timestamp", "key", "value")
        with worker_niceness(self.spark, NICENESS):
            told = records.mapInArrow(work, TOLD)
        rows = [tuple(row) for row in told.collect()]
        reports = [Report(*row[:6]) for row in rows if row[0] is not None]
        files = [WrittenFile(*row[6:]) for row in rows if row[6] is not None]
        positions = self.last().positions.advanced((r.topic, r.partition, r.next_offset) for r in reports)
        return Prepared(Commit(number, positions, sum(r.events for r in reports), began), files, reports)

    def append_states(self, prepared: Prepared) -> None:
        files = [file for file in prepared.files if file.table == tables.ASSETS]
        if files:
            self._tables[tables.ASSETS].append(files, {}, run=prepared.commit.number)

    def append_events(self, prepared: Prepared) -> None:
        files = [file for file in prepared.files if file.table == tables.EVENTS]
        self._tables[tables.EVENTS].append(files, prepared.commit.as_properties())


class Shelf:
    """Rows of both tables that wait to be written."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._waiting: dict[str, list[pa.RecordBatch]] = {tables.ASSETS: [], tables.EVENTS: []}
        self._bytes = 0

    def put(self, table: str, rows: pa.RecordBatch) -> None:
        self._waiting[table].append(rows)
        self._bytes += rows.nbytes

    @property
    def is_full(self) -> bool:
        return self._bytes > FILE_BYTES

    def clear(self) -> Iterator[WrittenFile]:
        """Writes what waits."""
        for name, batches in self._waiting.items():
            rows = pa.Table.from_batches(batches) if batches else None
            if rows is not None and rows.num_rows:
                target = self._job.targets[name]
                yield from write_files(name, rows, target, load_file_io(dict(self._job.io_properties), target.location))
            batches.clear()
        self._bytes = 0


def write_partition(batches: Iterable[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """Runs in a Spark task: judges what it is given, writes files, and tells of both. A task that is tried again
    writes new files, and only those of the attempt that succeeds are ever committed."""
    shelf = Shelf(job)
    for cut in cuts(batches, CUT_BYTES):
        records = pa.Table.from_batches(cut)
        reports, states, events = with_store(job.database_url, partial(_judged, records, job))
        shelf.put(tables.ASSETS, states)
        shelf.put(tables.EVENTS, events)
        yield _told(reports, 0)
        if shelf.is_full:
            yield _told(shelf.clear(), 6)
    yield _told(shelf.clear(), 6)


def _judged(rows: pa.Table, job: Job, store: CatalogueWriter) -> tuple[list[Report], pa.RecordBatch, pa.RecordBatch]:
    records = [record for batch in rows.to_batches() for record in read_records(batch)]
    accepted: list[int] = []
    events: list[AssetEvent] = []
    refusals: list[Refusal] = []
    for place, record in enumerate(records):
        verdict = judge(record, store.knows_tenant, job.skew)
        if isinstance(verdict, Refusal):
            refusals.append(verdict)
        elif verdict is not None:
            accepted.append(place)
            events.append(verdict)
    # The hot query has refused and applied what is its own already, or is about to.
    bulk = [(records[at], event) for at, event in zip(accepted, events, strict=True) if _is_bulk(records[at])]
    refused = [refusal for refusal in refusals if _is_bulk(refusal.record)]
    applied = store.merge_existing(bulk, refused)
    states = merge_states(map(AssetState.of, events)).values()
    return (
        _reports(records, applied.refused, applied.changed),
        states_to_batch(states, job.run),
        _event_rows(rows, records, accepted, events, job.run),
    )


def _is_bulk(record: Record) -> bool:
    return record.topic == topics.ASSETS_BULK


def _reports(records: list[Record], refused: int, refreshed: int) -> list[Report]:
    """One for each partition; what was refused and refreshed is told with the first."""
    ends: dict[tuple[str, int], list[int]] = {}
    for record in records:
        counted = ends.setdefault((record.topic, record.partition), [0, 0])
        counted[0] = max(counted[0], record.offset + 1)
        counted[1] += 1
    reports = [Report(topic, at, end, count, 0, 0) for (topic, at), (end, count) in ends.items()]
    return [reports[0]._replace(refused=refused, refreshed=refreshed), *reports[1:]]


def _event_rows(
    rows: pa.Table, records: list[Record], accepted: list[int], events: "list[AssetEvent]", batch: int
) -> pa.RecordBatch:
    """What was accepted, as the log holds it."""
    taken = rows.select(["topic", "partition", "offset", "value"])
    taken = taken if len(accepted) == len(records) else taken.take(pa.array(accepted, pa.int64()))
    ids = [event.asset_id for event in events]
    columns = {
        "tenant": [event.tenant for event in events],
        "id": ids,
        "place": [tables.id_prefix(asset_id) for asset_id in ids],
        "batch": [batch] * len(ids),
        "topic": taken.column("topic").combine_chunks(),
        "partition": taken.column("partition").combine_chunks(),
        "offset": taken.column("offset").combine_chunks(),
        "received": [records[at].received for at in accepted],
        "event": taken.column("value").combine_chunks().cast(pa.string()),
    }
    arrays = [
        value if isinstance(value, pa.Array) else pa.array(value, EVENT_SCHEMA.field(name).type)
        for name, value in columns.items()
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=EVENT_SCHEMA)


def _told(rows: Iterable[tuple[Any, ...]], first: int) -> pa.RecordBatch:
    """Rows that fill half of the columns, from the first one on."""
    found = list(rows)
    columns: list[list[Any]] = [[None] * len(found) for _ in _TOLD_ARROW]
    for at, row in enumerate(found):
        for place, value in enumerate(row, first):
            columns[place][at] = value
    arrays = [pa.array(values, part.type) for values, part in zip(columns, _TOLD_ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_TOLD_ARROW)


def start(
    spark: SparkSession,
    *,
    bootstrap: str,
    positions: Positions,
    checkpoint: str,
    trigger_seconds: float,
    batch_events: int,
    write: Callable[[DataFrame], Any],
) -> StreamingQuery:
    """Starts the query at the given positions. It ends only by failing or being stopped."""
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", ",".join(TOPICS))
        .option("startingOffsets", positions.as_json())
        .option("maxOffsetsPerTrigger", batch_events)
        .option("failOnDataLoss", "true")
        .load()
        .writeStream.queryName("lake")
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime=f"{int(trigger_seconds * 1000)} milliseconds")
        .foreachBatch(lambda batch, _: write(batch))
        .start()
    )
