"""The records of a chunk that the lake takes: validated, those of the hot lane too, because what is refused there must
not reach the lake either; and their rows in the table of events."""

from collections.abc import Sequence
from datetime import timedelta

import orjson
import pyarrow as pa

from lily.bus import topics
from lily.bus.authority import SigningKey, Verifier
from lily.model import ids
from lily.model.columns import AssetRecord, ColumnsEvent
from lily.model.plain_events import PlainEvent
from lily.model.records import Record, Refusal
from lily.model.states import AssetState
from lily.pipeline.validation import KnowsTenant, validate_asset_records, validate_bulk_record
from lily.store.lake import tables
from lily.store.lake.rows import EVENT_SCHEMA, places_of

LakeRecord = AssetRecord | PlainEvent


class AcceptedRecords:
    """`indices` are the places of the accepted records in the chunk, and `events` what they state.

    The bulk lane's records are validated here only, so `bulk` and `refused` also go to PostgreSQL. What the hot lane's
    state is in `pieces`."""

    def __init__(
        self, records: Sequence[Record], knows_tenant: KnowsTenant, skew: timedelta, keys: Sequence[SigningKey]
    ) -> None:
        self.indices: list[int] = []
        self.events: list[LakeRecord] = []
        self.pieces: list[AssetState | PlainEvent] = []
        self.bulk: list[tuple[Record, AssetRecord]] = []
        self.refused: list[Refusal] = []
        bulk_verifier, verifier = Verifier(keys), Verifier(keys)
        hot = validate_asset_records(
            [record for record in records if not _is_bulk(record)], knows_tenant, skew, verifier
        )
        for index, record in enumerate(records):
            if _is_bulk(record):
                self._add_bulk(index, record, validate_bulk_record(record, knows_tenant, skew, bulk_verifier))
                continue
            outcome = next(hot)
            if outcome is None or isinstance(outcome, Refusal):
                continue
            self.indices.append(index)
            self.events.append(outcome)
            self.pieces.append(outcome if isinstance(outcome, PlainEvent) else AssetState.of(outcome))
        self.unsigned_bulk = bulk_verifier.rejected
        self.has_unsigned = bool(bulk_verifier.rejected or verifier.rejected)

    def _add_bulk(self, index: int, record: Record, outcome: AssetRecord | Refusal | None) -> None:
        if isinstance(outcome, Refusal):
            self.refused.append(outcome)
        elif outcome is not None:
            self.bulk.append((record, outcome))
            self.indices.append(index)
            self.events.append(outcome)


def event_rows(rows: pa.Table, records: Sequence[Record], accepted: AcceptedRecords, batch: int) -> pa.RecordBatch:
    """The accepted records, with their original bytes."""
    if accepted.has_unsigned:
        rows = _as_applied(rows, records, accepted)
    taken = rows.select(["topic", "partition", "offset", "value"])
    taken = taken if len(accepted.indices) == len(records) else taken.take(pa.array(accepted.indices, pa.int64()))
    row_ids = pa.array(map(_row_id, accepted.events), pa.string())
    columns = {
        "tenant": [event.tenant for event in accepted.events],
        "id": row_ids,
        "place": places_of(row_ids),
        "batch": pa.repeat(pa.scalar(batch, pa.int64()), len(row_ids)),
        "topic": taken.column("topic").combine_chunks(),
        "partition": taken.column("partition").combine_chunks(),
        "offset": taken.column("offset").combine_chunks(),
        "received": [records[index].received for index in accepted.indices],
        "event": taken.column("value").combine_chunks().cast(pa.string()),
    }
    arrays = [
        value if isinstance(value, pa.Array) else pa.array(value, EVENT_SCHEMA.field(name).type)
        for name, value in columns.items()
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=EVENT_SCHEMA)


def _is_bulk(record: Record) -> bool:
    return record.topic == topics.ASSETS_BULK


def _as_applied(rows: pa.Table, records: Sequence[Record], accepted: AcceptedRecords) -> pa.Table:
    """The rows without claims of authority that were not signed: what is read from the lake is not verified again."""
    values = [record.value for record in records]
    for index, event in zip(accepted.indices, accepted.events, strict=True):
        if isinstance(event, PlainEvent):  # claims none
            continue
        if not event.has_authority and b'"authorised":true' in (values[index] or b""):
            values[index] = orjson.dumps(event.as_cloudevent())
    return rows.set_column(rows.schema.get_field_index("value"), "value", pa.array(values, pa.binary()))


def _row_id(event: LakeRecord) -> str:
    if isinstance(event, ColumnsEvent):
        return tables.group_id(ids.asset_id(event.tenant, f"{event.parent}.{next(iter(event.columns))}"))
    return event.asset_id
