"""A small lake for tests, written with PyIceberg: the tables of `lily.store.lake.tables` without Spark."""

import asyncio
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import load_file_io
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.serializers import ToOutputFile
from pyiceberg.table import StaticTable, Table
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from lily.model.states import AssetState
from lily.store.lake.data_file_writer import WriteTarget, WrittenFile, with_field_ids
from lily.store.lake.reader import LakeSnapshot
from lily.store.lake.rows import EVENT_SCHEMA, STATE_SCHEMA, states_to_batch
from lily.store.lake.scans import LakeEvent
from lily.store.lake.tables import ASSETS, EVENTS, id_prefix

_SCHEMAS = {ASSETS: STATE_SCHEMA, EVENTS: EVENT_SCHEMA}
_TYPES: dict[Any, Any] = {pa.string(): StringType(), pa.int64(): LongType(), pa.int32(): IntegerType()}


class Warehouse:
    """Appends runs and compacts them, one commit each."""

    def __init__(
        self, root: str, buckets: int = 2, group_rows: int = 4, properties: Mapping[str, str] | None = None
    ) -> None:
        self._root = root
        self._properties = dict(properties or {})
        self._io = load_file_io(self._properties, root)
        self._bucket: BucketTransform[Any] = BucketTransform(buckets)
        self._group_rows = group_rows
        self._numbers = itertools.count()
        self._files: dict[str, list[DataFile]] = defaultdict(list)
        self.located = LakeSnapshot({}, "2026-01-02T00:00:00.000000Z")
        self.questions = 0

    async def locate(self) -> LakeSnapshot:
        self.questions += 1
        await asyncio.sleep(0)
        return self.located

    def append_rows(self, table: str, rows: pa.Table, claimed_by: str | None = None) -> None:
        """`claimed_by` puts all rows into one tenant's files, whatever their tenant."""
        self._commit(table, self._write(table, rows, claimed_by), [])

    def append_states(self, states: Iterable[AssetState], run: int = 1) -> None:
        self.append_rows(ASSETS, pa.Table.from_batches([states_to_batch(states, run)]))

    def append_events(self, tenant: str, asset_id: str, events: Sequence[LakeEvent]) -> None:
        columns = dict(zip(LakeEvent._fields, zip(*events, strict=True), strict=True))
        same = {"tenant": tenant, "id": asset_id, "place": id_prefix(asset_id)}
        rows = columns | {name: [value] * len(events) for name, value in same.items()}
        self.append_rows(
            EVENTS, pa.table({field.name: pa.array(rows[field.name], field.type) for field in EVENT_SCHEMA})
        )

    def create(self) -> None:
        """Both tables, without rows."""
        for table in _SCHEMAS:
            self._table(table)

    def target(self, table: str) -> WriteTarget:
        """What a task of the pipeline needs to write files for the table."""
        field_ids = {name: number for number, name in enumerate(_SCHEMAS[table].names, start=1)}
        schema = with_field_ids(_SCHEMAS[table], field_ids)
        return WriteTarget(f"{self._root}/{table}", schema, self._bucket.num_buckets)

    def append_written(self, table: str, files: Iterable[WrittenFile], run: int) -> None:
        """Commits files that a task of the pipeline has written."""
        added = [
            self._data_file(
                file.path,
                (file.tenant, file.bucket, run) if table == ASSETS else (file.tenant, file.bucket),
                self.read_rows([file.path]).column("id").to_pylist(),
            )
            for file in files
        ]
        if added:
            self._commit(table, added, [])

    def read_rows(self, paths: Sequence[str]) -> pa.Table:
        """All rows of some files."""
        return pa.concat_tables([pq.read_table(path, partitioning=None) for path in paths])

    def replace(self, table: str, rows: pa.Table) -> None:
        """Compacts, and deletes the old files immediately."""
        old, self._files[table] = self._files[table], []
        self._commit(table, self._write(table, rows), old)
        for file in old:
            self._io.delete(file.file_path)

    def _write(self, table: str, rows: pa.Table, claimed_by: str | None = None) -> list[DataFile]:
        place = self._bucket.transform(StringType())
        parts: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        runs = rows.column("run" if table == ASSETS else "batch").to_pylist()
        for index, (tenant, at, run) in enumerate(
            zip(rows.column("tenant").to_pylist(), rows.column("place").to_pylist(), runs, strict=True)
        ):
            part = (claimed_by or tenant, place(at))
            parts[(*part, run) if table == ASSETS else part].append(index)
        return [self._file(table, part, rows.take(indexes).sort_by("id")) for part, indexes in parts.items()]

    def _file(self, table: str, part: tuple[Any, ...], rows: pa.Table) -> DataFile:
        path = f"{self._root}/{table}/{next(self._numbers)}.parquet"
        with self._io.new_output(path).create() as written:
            pq.write_table(rows, written, row_group_size=self._group_rows, compression="zstd")
        return self._data_file(path, part, rows.column("id").to_pylist())

    def _data_file(self, path: str, part: tuple[Any, ...], sorted_ids: Sequence[str]) -> DataFile:
        file = DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=path,
            file_format=FileFormat.PARQUET,
            partition=Record(*part),
            record_count=len(sorted_ids),
            file_size_in_bytes=len(self._io.new_input(path)),
            lower_bounds={2: sorted_ids[0].encode()},
            upper_bounds={2: sorted_ids[-1].encode()},
        )
        file.spec_id = 0
        return file

    def _commit(self, table: str, added: list[DataFile], gone: list[DataFile]) -> None:
        transaction = self._table(table).transaction()
        with transaction.update_snapshot().overwrite() as change:
            for file in gone:
                change.delete_data_file(file)
            for file in added:
                change.append_data_file(file)
        self._files[table] += added
        self._publish(table, transaction.table_metadata)

    def _table(self, table: str) -> Table:
        if table not in self.located.metadata:
            self._publish(table, self._created(table))
        static = StaticTable.from_metadata(self.located.metadata[table], self._properties)
        return Table(("lily", table), static.metadata, static.metadata_location, static.io, NoopCatalog("tests"))

    def _created(self, table: str) -> TableMetadata:
        fields = [
            NestedField(number, field.name, _TYPES[field.type], required=not field.nullable)
            for number, field in enumerate(_SCHEMAS[table], start=1)
        ]
        parts = [
            PartitionField(source_id=1, field_id=1000, transform=IdentityTransform(), name="tenant"),
            PartitionField(source_id=3, field_id=1001, transform=self._bucket, name="place_bucket"),
        ]
        if table == ASSETS:
            parts.append(PartitionField(source_id=4, field_id=1002, transform=IdentityTransform(), name="run"))
        return new_table_metadata(
            Schema(*fields),
            PartitionSpec(*parts),
            UNSORTED_SORT_ORDER,
            f"{self._root}/{table}",
            {"format-version": "2"},
        )

    def _publish(self, table: str, metadata: TableMetadata) -> None:
        path = f"{self._root}/{table}/{next(self._numbers):05}-{table}.metadata.json"
        ToOutputFile.table_metadata(metadata, self._io.new_output(path), overwrite=True)
        self.located = LakeSnapshot({**self.located.metadata, table: path}, self.located.fresh_as_of)
