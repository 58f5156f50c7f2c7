"""Converts Arrow batches to log records, in chunks that fit into memory."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from lily.model.clock import stamp_micros
from lily.model.records import Record


def chunks_by_size(batches: Iterable[pa.RecordBatch], limit: int) -> Iterator[list[pa.RecordBatch]]:
    """Groups batches to chunks of at most `limit` bytes. Spark limits a micro-batch by records, not by bytes, so one
    with large events would not fit into memory. A single batch above the limit is a chunk of its own."""
    chunk: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if chunk and size + batch.nbytes > limit:
            yield chunk
            chunk, size = [], 0
        if batch.num_rows:
            chunk.append(batch)
            size += batch.nbytes
    if chunk:
        yield chunk


def read_records(batch: pa.RecordBatch) -> Iterator[Record]:
    topics, partitions, offsets, keys, values = (
        batch.column(name).to_pylist() for name in ("topic", "partition", "offset", "key", "value")
    )
    return map(Record, topics, partitions, offsets, map(stamp_micros, received_micros(batch)), keys, values)


def received_micros(batch: pa.RecordBatch) -> list[int]:
    """The records' timestamps, in microseconds since the epoch."""
    micros: list[int] = batch.column("timestamp").cast(pa.int64()).to_pylist()
    return micros
