"""Writes data files of the lake. A file becomes part of a table when a commit adds it; any other file is an orphan.

A Spark task writes its files itself, with Arrow, instead of handing the rows back to Spark's writer in the JVM: 94
instead of 129 µs of processor time per column, measured once each (docs/decisions/0010).
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO

from lily.store.lake.buckets import bucket_of
from lily.store.lake.tables import STATISTICS_COLUMNS

ROW_GROUP_BYTES = 2 << 20  # look-ups read whole row groups: small ones are fast, and cost a few per cent of the size
MIN_GROUP_ROWS, MAX_GROUP_ROWS = 1_000, 20_000
# Columns whose values repeat within a row group; the writer would discard a dictionary of any other.
_DICTIONARY_COLUMNS = [
    "tenant",
    "place",
    "run",
    "batch",
    "topic",
    "partition",
    "received",
    "entity_type",
    "parent",
    "name",
]


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """What a task needs to know of a table to write files for it."""

    location: str
    schema: pa.Schema  # with Iceberg's field ids
    buckets: int


class WrittenFile(NamedTuple):
    """A data file that is not committed yet, and its partition."""

    table: str
    path: str
    tenant: str
    bucket: int
    rows: int
    size: int


def write_files(table: str, rows: pa.Table, target: WriteTarget, io: FileIO) -> Iterator[WrittenFile]:
    """Writes one sorted file per tenant and bucket. Raises OSError if the warehouse cannot be written."""
    rows = rows.append_column("bucket", _buckets(rows.column("place"), target.buckets))
    order = [(name, "ascending") for name in ("tenant", "bucket", "id")]
    rows = rows.take(pc.sort_indices(rows, sort_keys=order))
    start = 0
    for tenant, bucket, count in _partitions(rows):
        part = rows.slice(start, count).select(target.schema.names).cast(target.schema)
        start += count
        path = f"{target.location}/data/{tenant}/{bucket}/{uuid.uuid4().hex}.parquet"
        yield WrittenFile(table, path, tenant, bucket, count, _write(io, path, part, STATISTICS_COLUMNS[table]))


def _write(io: FileIO, path: str, rows: pa.Table, statistics: tuple[str, ...]) -> int:
    """Returns the size of the file."""
    group = min(max(ROW_GROUP_BYTES * rows.num_rows // max(rows.nbytes, 1), MIN_GROUP_ROWS), MAX_GROUP_ROWS)
    output = io.new_output(path)
    with output.create() as stream:
        pq.write_table(
            rows,
            stream,
            compression="zstd",
            row_group_size=group,
            use_dictionary=[name for name in _DICTIONARY_COLUMNS if name in rows.column_names],
            write_statistics=list(statistics),
            store_schema=False,
        )
    return len(output)


def _partitions(rows: pa.Table) -> list[tuple[str, int, int]]:
    """Tenant, bucket and number of rows, in the order of the rows."""
    counts = rows.group_by(["tenant", "bucket"]).aggregate([([], "count_all")]).to_pylist()
    return sorted((count["tenant"], count["bucket"], count["count_all"]) for count in counts)


def _buckets(prefixes: pa.ChunkedArray, buckets: int) -> pa.Array:
    encoded = prefixes.combine_chunks().dictionary_encode()
    by_prefix = [bucket_of(buckets)(prefix) for prefix in encoded.dictionary.to_pylist()]
    return pa.array(by_prefix, pa.int32()).take(encoded.indices)


def with_field_ids(schema: pa.Schema, ids: Mapping[str, int]) -> pa.Schema:
    """Iceberg identifies the columns of a file by these ids, not by their names."""
    return pa.schema([field.with_metadata({"PARQUET:field_id": str(ids[field.name])}) for field in schema])
