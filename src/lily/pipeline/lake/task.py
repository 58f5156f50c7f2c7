"""The Spark task of the lake query: validates records, and writes data files for both tables.

Events of the bulk lane are refused here if they are invalid, and if PostgreSQL has their asset too, they are merged
there as well. The hot query refuses and applies the events of its own topic.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
from pyiceberg.io import load_file_io

from lily.bus.authority import SigningKey
from lily.model.columns import states_of
from lily.model.states import merge_pieces, merge_states
from lily.pipeline.arrow_records import chunks_by_size, read_records
from lily.pipeline.connections import with_store
from lily.pipeline.lake.accepted import AcceptedRecords, event_rows
from lily.store.lake import tables
from lily.store.lake.data_file_writer import WriteTarget, WrittenFile, write_files
from lily.store.lake.rows import states_to_batch
from lily.store.postgres.catalogue.writer import CatalogueWriter

CHUNK_BYTES = 6 << 20  # validated together: decoded, an event takes up to twenty times its bytes
BUFFER_BYTES = 64 << 20  # collected before files are written: few large files, within a worker's small memory
# Each output row is either a PartitionReport (the first seven columns) or a WrittenFile (the others).
OUTPUT = (
    "topic string, partition int, next_offset long, events long, refused long, refreshed long, unsigned long,"
    "table string, path string, tenant string, bucket int, rows long, size long"
)
_OUTPUT_SCHEMA = pa.schema(
    [
        *(("topic", pa.string()), ("partition", pa.int32()), ("next_offset", pa.int64()), ("events", pa.int64())),
        *(("refused", pa.int64()), ("refreshed", pa.int64()), ("unsigned", pa.int64())),
        *((name, pa.string()) for name in ("table", "path", "tenant")),
        *(("bucket", pa.int32()), ("rows", pa.int64()), ("size", pa.int64())),
    ]
)


class PartitionReport(NamedTuple):
    """What a task read from one partition."""

    topic: str
    partition: int
    next_offset: int
    events: int
    refused: int  # of the bulk lane
    refreshed: int  # changes in PostgreSQL
    unsigned: int  # of the bulk lane, that claimed authority without a valid signature


_FILE_COLUMN = len(PartitionReport._fields)  # the first column of a WrittenFile


@dataclass(frozen=True)
class TaskSettings:
    """What every task of a batch needs to know."""

    run: int
    database_url: str
    skew: timedelta
    targets: Mapping[str, WriteTarget]
    io_properties: Mapping[str, str]
    keys: Sequence[SigningKey] = ()  # verify claims of authority


class RowBuffer:
    """Rows of both tables that are not written yet."""

    def __init__(self, settings: TaskSettings) -> None:
        self._settings = settings
        self._rows: dict[str, list[pa.RecordBatch]] = {tables.ASSETS: [], tables.EVENTS: []}
        self._bytes = 0

    def add(self, table: str, rows: pa.RecordBatch) -> None:
        self._rows[table].append(rows)
        self._bytes += rows.nbytes

    @property
    def is_full(self) -> bool:
        return self._bytes > BUFFER_BYTES

    def flush(self) -> Iterator[WrittenFile]:
        for name, batches in self._rows.items():
            rows = pa.Table.from_batches(batches) if batches else None
            if rows is not None and rows.num_rows:
                target = self._settings.targets[name]
                io = load_file_io(dict(self._settings.io_properties), target.location)
                yield from write_files(name, rows, target, io)
            batches.clear()
        self._bytes = 0


def write_partition(batches: Iterable[pa.RecordBatch], settings: TaskSettings) -> Iterator[pa.RecordBatch]:
    """A retried task writes new files. Only the files of the successful attempt are ever committed."""
    buffer = RowBuffer(settings)
    for chunk in chunks_by_size(batches, CHUNK_BYTES):
        records = pa.Table.from_batches(chunk)
        reports, states, events = with_store(settings.database_url, partial(_process, records, settings))
        buffer.add(tables.ASSETS, states)
        buffer.add(tables.EVENTS, events)
        yield _output(reports, 0)
        if buffer.is_full:
            yield _output(buffer.flush(), _FILE_COLUMN)
    yield _output(buffer.flush(), _FILE_COLUMN)


def read_output(rows: Iterable[tuple[Any, ...]]) -> tuple[list[PartitionReport], list[WrittenFile]]:
    """The output rows of all tasks."""
    found = [tuple(row) for row in rows]
    reports = [PartitionReport(*row[:_FILE_COLUMN]) for row in found if row[0] is not None]
    return reports, [WrittenFile(*row[_FILE_COLUMN:]) for row in found if row[_FILE_COLUMN] is not None]


def _process(
    rows: pa.Table, settings: TaskSettings, store: CatalogueWriter
) -> tuple[list[PartitionReport], pa.RecordBatch, pa.RecordBatch]:
    records = [record for batch in rows.to_batches() for record in read_records(batch)]
    taken = AcceptedRecords(records, store.knows_tenant, settings.skew, settings.keys)
    states = merge_states(state for _, event in taken.bulk for state in states_of(event))
    applied = store.merge_existing(states, taken.bulk, taken.refused)
    return (
        _reports(rows, applied.refused, applied.changed, taken.unsigned_bulk),
        states_to_batch(merge_pieces([*states.values(), *taken.pieces]), settings.run),
        event_rows(rows, records, taken, settings.run),
    )


def _reports(rows: pa.Table, refused: int, refreshed: int, unsigned: int) -> list[PartitionReport]:
    """One per partition. The first one has the counts of refused, refreshed and unsigned events."""
    found = rows.group_by(["topic", "partition"], use_threads=False).aggregate([("offset", "max"), ("offset", "count")])
    reports = [
        PartitionReport(row["topic"], row["partition"], row["offset_max"] + 1, row["offset_count"], 0, 0, 0)
        for row in found.to_pylist()
    ]
    return [reports[0]._replace(refused=refused, refreshed=refreshed, unsigned=unsigned), *reports[1:]]


def _output(rows: Iterable[tuple[Any, ...]], first_column: int) -> pa.RecordBatch:
    """Rows that fill the columns from `first_column` on; the others are null."""
    found = list(rows)
    columns: list[list[Any]] = [[None] * len(found) for _ in _OUTPUT_SCHEMA]
    for at, row in enumerate(found):
        for column, value in enumerate(row, first_column):
            columns[column][at] = value
    arrays = [pa.array(values, part.type) for values, part in zip(columns, _OUTPUT_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_OUTPUT_SCHEMA)
