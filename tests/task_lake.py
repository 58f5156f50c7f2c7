"""A lake without Spark: the pipeline's own task writes the files, and PyIceberg commits them (`tests/warehouse.py`)."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from lily.bus.authority import SigningKey
from lily.model import clock
from lily.model.envelopes import FUTURE_SKEW
from lily.model.records import Record
from lily.pipeline.lake.lookups import LakeLookups
from lily.pipeline.lake.row_merge import merge_sorted
from lily.pipeline.lake.task import TaskSettings, read_output, write_partition
from lily.store.lake.data_file_writer import WrittenFile
from lily.store.lake.data_files import TableFiles, read_files
from lily.store.lake.parquet import ParquetFiles
from lily.store.lake.reader import LakeReader
from lily.store.lake.tables import ASSETS, EVENTS
from tests.warehouse import Warehouse

KAFKA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
    ]
)


class Located:
    """What `LakeLookups` needs of a table: the current metadata file."""

    def __init__(self, warehouse: Warehouse, table: str) -> None:
        self._warehouse, self._table = warehouse, table

    def metadata_location(self) -> str:
        return self._warehouse.located.metadata[self._table]


class WarehouseLookups(LakeLookups):
    """The look-ups of promotion, in a warehouse that Spark does not know."""

    def __init__(self, warehouse: Warehouse) -> None:
        located: Any = {name: Located(warehouse, name) for name in (ASSETS, EVENTS)}
        self._tables = located
        self._properties = {}
        self._files: dict[str, TableFiles] = {}
        self._parquet = ParquetFiles()


class TaskLake:
    def __init__(self, root: str, database_url: str, key: SigningKey) -> None:
        self._warehouse = Warehouse(root)
        self._warehouse.create()
        self._database_url, self._key, self._batch = database_url, key, 0
        self.lookups: LakeLookups = WarehouseLookups(self._warehouse)

    def reader(self) -> LakeReader:
        return LakeReader(self._warehouse.locate)

    def write(self, records: Sequence[Record], *, crash: bool = False) -> None:
        """One batch. If it crashes, the states are committed and the events are not, and the caller repeats it."""
        written = self._written(records)
        self._commit(ASSETS, written)
        if not crash:
            self._commit(EVENTS, written)

    def compact(self) -> None:
        """All rows of states become one run, merged as compaction merges them."""
        location = self._warehouse.located.metadata[ASSETS]
        files = [file.path for found in read_files(location, {}).manifests.values() for file in found]
        if len(files) > 1:
            self._batch += 1
            rows = self._warehouse.read_rows(files).sort_by("id")
            self._warehouse.replace(ASSETS, pa.Table.from_batches(list(merge_sorted(rows.to_batches(), self._batch))))

    def _written(self, records: Sequence[Record]) -> list[WrittenFile]:
        self._batch += 1
        targets = {table: self._warehouse.target(table) for table in (ASSETS, EVENTS)}
        settings = TaskSettings(self._batch, self._database_url, FUTURE_SKEW, targets, {}, [self._key])
        output = [row for found in write_partition(as_arrow(records).to_batches(), settings) for row in _rows(found)]
        return read_output(output)[1]

    def _commit(self, table: str, files: Sequence[WrittenFile]) -> None:
        self._warehouse.append_written(table, [file for file in files if file.table == table], self._batch)


def as_arrow(records: Sequence[Record]) -> pa.Table:
    """The records as Spark reads them."""
    return pa.Table.from_pylist([_row(record) for record in records], schema=KAFKA)


def _rows(batch: pa.RecordBatch) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _row(record: Record) -> dict[str, object]:
    named = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
    return {**named, "timestamp": clock.parse(record.received), "key": record.key, "value": record.value}
