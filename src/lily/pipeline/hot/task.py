"""The Spark task of the hot query: applies one partition of a micro-batch to PostgreSQL.

The query reads the events of assets and of edges. Kafka keeps all events of one asset, or of one edge or job, in one
partition, and Spark gives each partition of a micro-batch to one task. So each task validates, aggregates, merges and
commits its own partition in one transaction, and the driver only sums up counts: there is no shuffle. The offset is
part of that transaction, so a task that runs twice changes nothing the second time.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from lily.bus import topics
from lily.model.envelopes import FUTURE_SKEW
from lily.model.records import Record, Refusal
from lily.pipeline.arrow_records import chunks_by_size, read_records, received_micros
from lily.pipeline.connections import with_store
from lily.pipeline.latency import bucket_counts
from lily.pipeline.validation import validate_asset_record, validate_lineage_record
from lily.store.postgres.catalogue.writer import BatchCounts, CatalogueWriter

if TYPE_CHECKING:
    from lily.model.edges import ClaimsEvent, EdgeEvent
    from lily.model.events import AssetEvent

CHUNK_BYTES = 24 << 20  # per transaction: decoded, an event takes up to twenty times its bytes
REPORT = (
    "partition int, events long, merged long, changed long, refused long, kept long, latency array<long>, "
    "seconds double"
)
_REPORT_SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("events", pa.int64()),
        ("merged", pa.int64()),
        ("changed", pa.int64()),
        ("refused", pa.int64()),
        ("kept", pa.int64()),
        ("latency", pa.list_(pa.int64())),
        ("seconds", pa.float64()),
    ]
)


def apply_partition(
    batches: Iterable[pa.RecordBatch], database_url: str, skew: timedelta = FUTURE_SKEW
) -> Iterator[pa.RecordBatch]:
    """Yields one report row per transaction."""
    for chunk in chunks_by_size(batches, CHUNK_BYTES):
        records = [record for batch in chunk for record in read_records(batch)]
        applied = with_store(database_url, partial(_apply, records, skew))
        now = time.time()
        ages = [now - micros / 1_000_000 for batch in chunk for micros in received_micros(batch)]
        counts = (applied.merged, applied.changed, applied.refused, applied.kept)
        report = [records[0].partition, len(records), *counts, *bucket_counts(ages)]
        columns = [pa.array([value], field.type) for value, field in zip(report, _REPORT_SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=_REPORT_SCHEMA)


def _apply(records: list[Record], skew: timedelta, store: CatalogueWriter) -> BatchCounts:
    events: list[tuple[Record, AssetEvent | EdgeEvent | ClaimsEvent]] = []
    refusals: list[Refusal] = []
    next_offsets: dict[int, int] = {}
    topic = records[0].topic  # a task has one partition of one topic
    validate = validate_lineage_record if topic == topics.LINEAGE_INTAKE else validate_asset_record
    for record in records:
        next_offsets[record.partition] = max(record.offset + 1, next_offsets.get(record.partition, 0))
        outcome = validate(record, store.knows_tenant, skew)
        if isinstance(outcome, Refusal):
            refusals.append(outcome)
        elif outcome is not None:
            events.append((record, outcome))
    return store.apply(topic, next_offsets, events, refusals)
