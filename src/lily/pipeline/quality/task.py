"""The Spark task of the quality query: counts one partition of a micro-batch and judges the assets that it touched.

Kafka keeps all usage events of one asset in one partition, and Spark gives each partition of a micro-batch to one task.
So each task validates, sums up, merges and judges its own assets in one transaction, together with the offset: there is
no shuffle, no state in Spark, and a task that runs twice counts nothing twice.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from lily.model.envelopes import FUTURE_SKEW
from lily.model.records import Position, Record, Refusal
from lily.pipeline.arrow_records import chunks_by_size, read_records
from lily.pipeline.connections import with_usage
from lily.pipeline.validation import validate_usage_record
from lily.store.postgres.usage.writer import UsageCounts, UsageWriter

if TYPE_CHECKING:
    from lily.model.usage import UsageEvent

CHUNK_BYTES = 8 << 20  # per transaction: decoded, an event takes up to twenty times its bytes
REPORT = "partition int, events long, counted long, refused long, opened long, closed long"
_REPORT_SCHEMA = pa.schema(
    [("partition", pa.int32()), *((name, pa.int64()) for name in ("events", "counted", "refused", "opened", "closed"))]
)


def count_partition(
    batches: Iterable[pa.RecordBatch], database_url: str, skew: timedelta = FUTURE_SKEW, now: datetime | None = None
) -> Iterator[pa.RecordBatch]:
    """Yields one report row per transaction. `now` is the time of the judgement, if it is not the present."""
    for chunk in chunks_by_size(batches, CHUNK_BYTES):
        # Mostly one: Spark can be set to combine partitions, and what is counted has to be of one.
        of_partition: dict[int, list[Record]] = {}
        for batch in chunk:
            for record in read_records(batch):
                of_partition.setdefault(record.partition, []).append(record)
        for partition, records in of_partition.items():
            counts = with_usage(database_url, partial(_apply, records, skew, now))
            report = [partition, len(records), *counts]
            columns = [pa.array([value], field.type) for value, field in zip(report, _REPORT_SCHEMA, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=_REPORT_SCHEMA)


def _apply(records: list[Record], skew: timedelta, now: datetime | None, store: UsageWriter) -> UsageCounts:
    events: list[tuple[Record, UsageEvent]] = []
    refusals: list[Refusal] = []
    for record in records:
        outcome = validate_usage_record(record, store.tenants.__contains__, skew)
        if isinstance(outcome, Refusal):
            refusals.append(outcome)
        elif outcome is not None:
            events.append((record, outcome))
    first, last = records[0], records[-1]
    return store.apply(Position(first.topic, first.partition, last.offset + 1), events, refusals, now)
