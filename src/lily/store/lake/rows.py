"""The Arrow schemas of the two tables, and the conversion of an asset's state to a row of `assets` and back."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from lily.model.assets import LAYERS, TYPE, LayerName, entity_type, parent_id, shown_value
from lily.model.held import PARENT_ID
from lily.model.layers import Layer
from lily.model.plain_events import PlainEvent
from lily.model.states import AssetState
from lily.store.lake.tables import ID_PREFIX_DIGITS

STATE_SCHEMA: Final = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("tenant", "id", "place")),
        pa.field("run", pa.int64(), nullable=False),
        pa.field("qualified_name", pa.string(), nullable=False),
        *(pa.field(name, pa.string()) for name in ("entity_type", "name", "parent")),
        *(pa.field(name, pa.string(), nullable=False) for name in ("first", "last")),
        *(pa.field(f"{layer}{part}", pa.string()) for layer in LAYERS for part in ("", "_at", "_clocks")),
    ]
)
EVENT_SCHEMA: Final = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("tenant", "id", "place")),
        pa.field("batch", pa.int64(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        *(pa.field(name, pa.string(), nullable=False) for name in ("received", "event")),
    ]
)
# The columns that a state is read from; the others are for look-ups.
STATE_COLUMNS: Final = ("tenant", "id", "qualified_name", "first", "last", *STATE_SCHEMA.names[10:])
_WRITTEN: Final = [field for field in STATE_SCHEMA if field.name not in {"place", "run"}]
_NOTHING: Final = (None,) * 7  # the clocks of the source layer, and the two other layers


def state_to_row(state: AssetState | PlainEvent) -> tuple[Any, ...]:
    """All columns but `place` and `run`."""
    if isinstance(state, PlainEvent):
        return _row_of_plain(state)
    source = state.layers.get("source")
    if source is not None and source.clocks is None and len(state.layers) == 1:
        return _row_of_source(state, source)
    return (
        state.tenant,
        state.id,
        state.qualified_name,
        entity_type(state.layers) or None,
        shown_value(state.layers, "name"),
        parent_id(state.layers),
        state.first,
        state.last,
        *(part for name in LAYERS for part in _layer_columns(state.layers.get(name))),
    )


def _row_of_source(state: AssetState, source: Layer) -> tuple[Any, ...]:
    """The same for a state that only a source made, as nearly all are."""
    fields = source.fields
    name, parent, kind = fields.get("name"), fields.get(PARENT_ID), fields.get(TYPE)
    return (
        state.tenant,
        state.id,
        state.qualified_name,
        None if kind is None else str(kind),
        None if name is None else str(name),
        None if parent is None else str(parent),
        state.first,
        state.last,
        orjson.dumps(fields).decode(),
        source.at,
        *_NOTHING,
    )


def _row_of_plain(event: PlainEvent) -> tuple[Any, ...]:
    """The same for the state that a plain event makes by itself."""
    tenant, asset_id, qualified_name, time, _, fields, *_ = event
    name, parent, kind = fields["name"], fields.get(PARENT_ID), fields[TYPE]
    source = orjson.dumps(fields).decode()
    return (tenant, asset_id, qualified_name, kind, name, parent, time, time, source, event.clock, *_NOTHING)


def states_to_batch(states: Iterable[AssetState | PlainEvent], run: int) -> pa.RecordBatch:
    rows: Sequence[Any] = list(zip(*map(state_to_row, states), strict=True)) or [[]] * len(_WRITTEN)
    columns = {field.name: pa.array(values, field.type) for field, values in zip(_WRITTEN, rows, strict=True)}
    columns["place"] = places_of(columns["id"])
    columns["run"] = pa.repeat(pa.scalar(run, pa.int64()), len(columns["id"]))
    return pa.RecordBatch.from_arrays([columns[name] for name in STATE_SCHEMA.names], schema=STATE_SCHEMA)


def places_of(ids: pa.Array) -> pa.Array:
    """`id_prefix` of each."""
    return pc.utf8_slice_codeunits(ids, 0, ID_PREFIX_DIGITS)


def read_states(batch: pa.RecordBatch | pa.Table) -> list[AssetState]:
    """One state per row; rows of the same asset are not merged."""
    return [_state(*row) for row in zip(*(batch.column(name).to_pylist() for name in STATE_COLUMNS), strict=True)]


def _layer_columns(layer: Layer | None) -> tuple[str | None, str | None, str | None]:
    if layer is None:
        return None, None, None
    clocks = None if layer.clocks is None else orjson.dumps(layer.clocks).decode()
    return orjson.dumps(layer.fields).decode(), layer.at, clocks


def _state(tenant: str, asset_id: str, qualified_name: str, first: str, last: str, *parts: str | None) -> AssetState:
    layers: dict[LayerName, Layer] = {}
    for index, name in enumerate(LAYERS):
        fields, at, clocks = parts[3 * index : 3 * index + 3]
        if fields is not None and at is not None:
            layers[name] = Layer(orjson.loads(fields), at, None if clocks is None else orjson.loads(clocks))
    return AssetState(tenant, asset_id, qualified_name, first, last, layers)
