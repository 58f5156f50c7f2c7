"""From Arrow batches to records of the log, in groups that fit into memory."""

from collections.abc import Iterable, Iterator
from itertools import repeat

import pyarrow as pa

from lily.bus import topics
from lily.model.clock import stamp_micros
from lily.model.records import Record

CUT_BYTES = 24 << 20  # decoded, an event takes up to twenty times its bytes


def cuts(batches: Iterable[pa.RecordBatch], limit: int) -> Iterator[list[pa.RecordBatch]]:
    """Groups what arrives until a group is too large for one transaction: events are counted, but memory has bytes."""
    group: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if group and size + batch.nbytes > limit:
            yield group
            group, size = [], 0
        if batch.num_rows:
            group.append(batch)
            size += batch.nbytes
    if group:
        yield group


def read_records(batch: pa.RecordBatch) -> Iterator[Record]:
    """The records of a batch; of the hot lane unless a column says which topic."""
    names = batch.schema.names
    topic = batch.column("topic").to_pylist() if "topic" in names else repeat(topics.ASSETS)
    partitions, offsets, keys, values = (
        batch.column(name).to_pylist() for name in ("partition", "offset", "key", "value")
    )
    return map(Record, topic, partitions, offsets, map(stamp_micros, received(batch)), keys, values)


def received(batch: pa.RecordBatch) -> list[int]:
    """When the log took each record, in microseconds since the epoch."""
    micros: list[int] = batch.column("timestamp").cast(pa.int64()).to_pylist()
    return micros
