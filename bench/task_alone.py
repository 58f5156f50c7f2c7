"""Processor time per event of the pipeline's tasks alone, by step: `python -m bench.task_alone`.

One process, no Spark and no PostgreSQL: what is left is the Python of the hot task and of the lake's. The smallest of
many rounds counts, each over another batch, so that caches of ids help as little as they do in the pipeline.
"""

import gc
import itertools
import json
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import orjson
import pyarrow as pa

from bench.events import TENANT, Payloads, sample
from lily.bus.authority import Verifier
from lily.bus.topics import ASSETS
from lily.model.envelopes import FUTURE_SKEW
from lily.model.events import AssetEvent
from lily.model.plain_events import PlainEvent
from lily.model.records import Refusal
from lily.model.states import merge_pieces
from lily.pipeline.arrow_records import read_records, received_micros
from lily.pipeline.lake.accepted import AcceptedRecords, event_rows
from lily.pipeline.latency import bucket_counts
from lily.pipeline.validation import validate_asset_records
from lily.store.lake.rows import states_to_batch
from lily.store.postgres.catalogue.aggregation import aggregate, copy_rows

EVENTS, BATCHES, ROUNDS, POOL = 5_000, 6, 30, 60_000
_SCHEMA = pa.schema(
    [
        *(("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())),
        *(("timestamp", pa.timestamp("us", tz="UTC")), ("key", pa.binary()), ("value", pa.binary())),
    ]
)
# What each of ten events of the mixed batch states in addition: six are plain, one of them with escapes.
_MIXTURE: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {}, {}),
    {"attributes": {"description": 'One row an order.\nBy hour; the "new" ones first.'}},
    {"attributes": {"description": "Für alle Aufträge.", "row_count": 12}},
    {"attributes": {"tags": ["PII", "finance"]}},
    {"layer": "user", "attributes": {"description": "Ask me."}},
    {"operation": "delete"},
)


def main() -> None:
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)  # as in the pipeline's workers
    for name, payloads in (("plain", plain), ("mixed", mixed)):
        print(json.dumps({"events": name, **measured([as_arrow(payloads(seed)) for seed in range(BATCHES)])}))


def plain(seed: int) -> list[tuple[bytes, bytes]]:
    payloads = Payloads(sample(POOL, EVENTS, seed))
    return [event for _ in range(0, EVENTS, 50) for event in payloads.take(50)]


def mixed(seed: int) -> list[tuple[bytes, bytes]]:
    return [
        (key, changed(value, more)) for (key, value), more in zip(plain(seed), itertools.cycle(_MIXTURE), strict=False)
    ]


def changed(value: bytes, more: dict[str, Any]) -> bytes:
    if not more:
        return value
    event = orjson.loads(value)
    attributes = event["data"]["attributes"] | more.get("attributes", {})
    event["data"] |= more | {"attributes": attributes}
    return orjson.dumps(event)


def as_arrow(events: Sequence[tuple[bytes, bytes]]) -> pa.RecordBatch:
    """As Spark hands a partition to a task."""
    now = time.time_ns() // 1_000_000 * 1_000
    keys, values = zip(*events, strict=True)
    columns = ([ASSETS] * len(events), [0] * len(events), range(len(events)), [now] * len(events), keys, values)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def measured(batches: Sequence[pa.RecordBatch]) -> dict[str, float]:
    known, verifier = {TENANT}.__contains__, Verifier(())
    tables = [pa.Table.from_batches([batch]) for batch in batches]
    records = [list(read_records(batch)) for batch in batches]
    outcomes = [validate_asset_records(some, known, FUTURE_SKEW, verifier) for some in records]
    events = [list(filter(is_event, some)) for some in outcomes]
    rows = [aggregate(some) for some in events]
    return {
        "read": smallest(lambda batch: list(read_records(batch)), batches),
        "validate": smallest(lambda some: list(validate_asset_records(some, known, FUTURE_SKEW, verifier)), records),
        "aggregate": smallest(aggregate, events),
        "copy": smallest(copy_rows, rows),
        "latency": smallest(latencies, batches),
        "lake": smallest(rows_of_lake, tables),
    }


def is_event(outcome: PlainEvent | AssetEvent | Refusal | None) -> TypeGuard[PlainEvent | AssetEvent]:
    return isinstance(outcome, PlainEvent | AssetEvent)


def latencies(batch: pa.RecordBatch) -> tuple[list[int], float]:
    now = time.time()
    return bucket_counts([now - micros / 1e6 for micros in received_micros(batch)])


def rows_of_lake(rows: pa.Table) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """What the lake's task does with a chunk before it writes files; of the bulk lane there is nothing."""
    records = [record for batch in rows.to_batches() for record in read_records(batch)]
    taken = AcceptedRecords(records, {TENANT}.__contains__, FUTURE_SKEW, ())
    return states_to_batch(merge_pieces(taken.pieces), 1), event_rows(rows, records, taken, 1)


def smallest(work: Callable[[Any], object], inputs: Sequence[Any]) -> float:
    """µs per event."""
    best = float("inf")
    for given in itertools.islice(itertools.cycle(inputs), ROUNDS):
        began = time.process_time()
        work(given)
        best = min(best, time.process_time() - began)
    return round(best / EVENTS * 1e6, 2)


if __name__ == "__main__":
    main()
