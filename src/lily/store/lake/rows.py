"""The rows of the two tables as Arrow has them; a state of an asset as a row of `assets`, and back."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson
import pyarrow as pa

from lily.model.assets import LAYERS, PARENT_ID, LayerName, entity_type
from lily.model.layers import Layer
from lily.model.states import AssetState
from lily.store.lake.tables import place_of

STATE: Final = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("tenant", "id", "place")),
        pa.field("run", pa.int64(), nullable=False),
        pa.field("qualified_name", pa.string(), nullable=False),
        *(pa.field(name, pa.string()) for name in ("entity_type", "name", "parent")),
        *(pa.field(name, pa.string(), nullable=False) for name in ("first", "last")),
        *(pa.field(f"{layer}{part}", pa.string()) for layer in LAYERS for part in ("", "_at", "_clocks")),
    ]
)
EVENT: Final = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("tenant", "id", "place")),
        pa.field("batch", pa.int64(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        *(pa.field(name, pa.string(), nullable=False) for name in ("received", "event")),
    ]
)
# What a state is read from; the other columns only help to find it.
READ: Final = ("tenant", "id", "qualified_name", "first", "last", *STATE.names[10:])


def as_row(state: AssetState, run: int) -> tuple[Any, ...]:
    return (
        state.tenant,
        state.id,
        place_of(state.id),
        run,
        state.qualified_name,
        entity_type(state.layers) or None,
        _shown(state, "name"),
        parent_of(state),
        state.first,
        state.last,
        *(part for name in LAYERS for part in _written(state.layers.get(name))),
    )


def as_batch(states: Iterable[AssetState], run: int) -> pa.RecordBatch:
    columns: Sequence[Any] = list(zip(*(as_row(state, run) for state in states), strict=True)) or [[]] * len(STATE)
    return pa.RecordBatch.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, STATE, strict=True)], schema=STATE
    )


def read_states(batch: pa.RecordBatch | pa.Table) -> list[AssetState]:
    """The states of all rows; rows of one asset are not joined yet."""
    return [_state(*row) for row in zip(*(batch.column(name).to_pylist() for name in READ), strict=True)]


def parent_of(state: AssetState) -> str | None:
    """The id of the parent that is shown."""
    return _shown(state, PARENT_ID)


def _shown(state: AssetState, key: str) -> str | None:
    """A field as it is shown: the person's, else the enriched, else the source's."""
    for name in reversed(LAYERS):
        if (layer := state.layers.get(name)) is not None and (value := layer.fields.get(key)) is not None:
            return str(value)
    return None


def _written(layer: Layer | None) -> tuple[str | None, str | None, str | None]:
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
