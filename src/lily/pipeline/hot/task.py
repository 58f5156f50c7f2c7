"""The Spark task of the queries for assets and for edges: applies partitions of a micro-batch to PostgreSQL.

Kafka keeps all events of one asset, or of one edge or job, in one partition, and one task reads a partition of a
micro-batch. So each task validates, aggregates, merges and commits its own partitions, each in a transaction of its
own, and the driver only sums up counts: there is no shuffle. The offset is part of that transaction, so a task that
runs twice changes nothing the second time.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from datetime import timedelta
from functools import partial
from itertools import groupby

import pyarrow as pa

from lily.bus import topics
from lily.bus.authority import SigningKey, Verifier
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.envelopes import FUTURE_SKEW
from lily.model.events import AssetEvent
from lily.model.plain_events import PlainEvent
from lily.model.records import Record, Refusal
from lily.pipeline.arrow_records import chunks_by_size, read_records, received_micros
from lily.pipeline.connections import with_store
from lily.pipeline.latency import bucket_counts
from lily.pipeline.validation import validate_asset_records, validate_lineage_record
from lily.store.postgres.catalogue.writer import BatchCounts, CatalogueWriter

CHUNK_BYTES = 24 << 20  # per transaction: decoded, an event takes up to twenty times its bytes
CLAIMS_AT_ONCE = 5_000  # per transaction, and those of the record that exceeds it: two seconds on a busy machine
REPORT = (
    "partition int, events long, merged long, changed long, refused long, held long, unsigned long, "
    "latency array<long>, seconds double"
)
_REPORT_SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("events", pa.int64()),
        ("merged", pa.int64()),
        ("changed", pa.int64()),
        ("refused", pa.int64()),
        ("held", pa.int64()),
        ("unsigned", pa.int64()),
        ("latency", pa.list_(pa.int64())),
        ("seconds", pa.float64()),
    ]
)

Event = PlainEvent | AssetEvent | EdgeEvent | ClaimsEvent
Outcome = Event | Refusal | None


def apply_partition(
    batches: Iterable[pa.RecordBatch],
    database_url: str,
    skew: timedelta = FUTURE_SKEW,
    keys: Sequence[SigningKey] = (),
) -> Iterator[pa.RecordBatch]:
    """Yields one report row per chunk. `keys` verify claims of authority."""
    for chunk in chunks_by_size(batches, CHUNK_BYTES):
        records = [record for batch in chunk for record in read_records(batch)]
        verifier = Verifier(keys)
        applied = [
            with_store(database_url, partial(_apply, list(of_partition), skew, verifier))
            for _, of_partition in groupby(records, key=lambda record: (record.topic, record.partition))
        ]
        now = time.time()
        ages = [now - micros / 1_000_000 for batch in chunk for micros in received_micros(batch)]
        counts = [*(sum(column) for column in zip(*map(astuple, applied), strict=True)), verifier.rejected]
        report = [records[0].partition, len(records), *counts, *bucket_counts(ages)]
        columns = [pa.array([value], field.type) for value, field in zip(report, _REPORT_SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=_REPORT_SCHEMA)


def _apply(records: list[Record], skew: timedelta, verifier: Verifier, store: CatalogueWriter) -> BatchCounts:
    """Applies records of one partition. Idempotent: the caller repeats it if the connection is lost."""
    topic, partition = records[0].topic, records[0].partition
    outcomes: Iterable[Outcome]
    if topic == topics.LINEAGE_INTAKE:
        outcomes = (validate_lineage_record(record, store.knows_tenant, skew, verifier) for record in records)
    else:
        outcomes = validate_asset_records(records, store.knows_tenant, skew, verifier)
    total = BatchCounts(0, 0, 0)
    taken = _Taken()
    for record, outcome in zip(records, outcomes, strict=True):
        taken.add(record, outcome)
        if taken.claims >= CLAIMS_AT_ONCE or record is records[-1]:
            total += store.apply(topic, {partition: record.offset + 1}, taken.events, taken.refusals)
            taken = _Taken()
    return total


class _Taken:
    """The records of one transaction."""

    def __init__(self) -> None:
        self.events: list[tuple[Record, Event]] = []
        self.refusals: list[Refusal] = []
        self.claims = 0

    def add(self, record: Record, outcome: Outcome) -> None:
        if isinstance(outcome, Refusal):
            self.refusals.append(outcome)
        elif outcome is not None:
            self.events.append((record, outcome))
            if isinstance(outcome, ClaimsEvent):  # an output can be derived from every input
                self.claims += len(outcome.claims) + len(outcome.datasets.inputs) * len(outcome.datasets.outputs)
