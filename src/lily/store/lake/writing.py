"""Writes data files of the lake. A file counts only once a commit names it; one that none names is an orphan.

Whatever runs a task writes its own files, with Arrow all the way, instead of handing the rows back to the JVM for its
writer: 94 instead of 129 µs of processor time a column, one run each (docs/decisions/0010).
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import StringType

from lily.store.lake.tables import COUNTED

GROUP_BYTES = 2 << 20  # a look-up reads whole row groups: small ones make it quick, and cost a few per cent of the size
LEAST_GROUP, MOST_GROUP = 1_000, 20_000  # rows
# Values that repeat within a row group; a dictionary of the others would be thrown away again.
_REPEATED = ["tenant", "place", "run", "batch", "topic", "partition", "received", "entity_type", "parent", "name"]


@dataclass(frozen=True, slots=True)
class Target:
    """What a task has to know of a table to write files for it."""

    location: str
    schema: pa.Schema  # with Iceberg's field ids
    buckets: int


class Written(NamedTuple):
    """A data file, and the partition it belongs to."""

    table: str
    path: str
    tenant: str
    bucket: int
    rows: int
    size: int


def write_files(table: str, rows: pa.Table, target: Target, io: FileIO) -> Iterator[Written]:
    """One sorted file for each tenant and bucket. Raises OSError if the warehouse cannot be written."""
    rows = rows.append_column("bucket", _buckets(rows.column("place"), target.buckets))
    order = [(name, "ascending") for name in ("tenant", "bucket", "id")]
    rows = rows.take(pc.sort_indices(rows, sort_keys=order))
    start = 0
    for tenant, bucket, count in _partitions(rows):
        part = rows.slice(start, count).select(target.schema.names).cast(target.schema)
        start += count
        path = f"{target.location}/data/{tenant}/{bucket}/{uuid.uuid4().hex}.parquet"
        yield Written(table, path, tenant, bucket, count, _write(io, path, part, COUNTED[table]))


def _write(io: FileIO, path: str, rows: pa.Table, counted: tuple[str, ...]) -> int:
    """Answers the size of the file."""
    group = min(max(GROUP_BYTES * rows.num_rows // max(rows.nbytes, 1), LEAST_GROUP), MOST_GROUP)
    output = io.new_output(path)
    with output.create() as stream:
        pq.write_table(
            rows,
            stream,
            compression="zstd",
            row_group_size=group,
            use_dictionary=[name for name in _REPEATED if name in rows.column_names],
            write_statistics=list(counted),
            store_schema=False,
        )
    return len(output)


def _partitions(rows: pa.Table) -> list[tuple[str, int, int]]:
    """Tenant, bucket and number of rows, in the order in which they lie."""
    counts = rows.group_by(["tenant", "bucket"]).aggregate([([], "count_all")]).to_pylist()
    return sorted((count["tenant"], count["bucket"], count["count_all"]) for count in counts)


def _buckets(places: pa.ChunkedArray, buckets: int) -> pa.Array:
    encoded = places.combine_chunks().dictionary_encode()
    of_place = [_bucket_of(buckets)(place) for place in encoded.dictionary.to_pylist()]
    return pa.array(of_place, pa.int32()).take(encoded.indices)


@lru_cache
def _bucket_of(buckets: int) -> Callable[[str], int]:
    transform: Callable[[str], int] = BucketTransform(buckets).transform(StringType())  # type: ignore[assignment]
    return lru_cache(maxsize=1 << 16)(transform)  # there are no more places than that


def with_field_ids(schema: pa.Schema, ids: Mapping[str, int]) -> pa.Schema:
    """The columns of a file are told apart by Iceberg's ids, not by their names."""
    return pa.schema([field.with_metadata({"PARQUET:field_id": str(ids[field.name])}) for field in schema])
