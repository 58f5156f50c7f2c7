"""Aggregates the events of a batch to one row to stage per layer of an asset."""

from collections.abc import Iterable
from functools import lru_cache

from lily.model.causes import cause_of
from lily.model.changes import promotion
from lily.model.events import AssetEvent
from lily.model.states import AssetState
from lily.store.postgres.copying import NULL, escaped_json
from lily.store.postgres.staged_layers import StagedLayer


def aggregate(events: Iterable[AssetEvent]) -> list[StagedLayer]:
    rows: dict[tuple[str, str], StagedLayer] = {}
    for event in events:
        layer, statement, asset_id = event.layer(), event.statement, event.asset_id
        row = rows.get((statement.layer, asset_id))
        if row is not None:
            row.add(layer, event.time, cause_of(event))
            continue
        identity = _identity(event.tenant, asset_id, statement.qualified_name)
        entity_type = statement.entity_type if statement.layer != "source" else None
        rows[statement.layer, asset_id] = StagedLayer(
            statement.layer, identity, layer, event.time, event.time, [cause_of(event)], entity_type
        )
    return list(rows.values())


def rows_of_state(state: AssetState) -> list[StagedLayer]:
    """The layers of an asset's state in the lake. The newest event of each layer is recorded as its cause."""
    identity = _identity(state.tenant, state.id, state.qualified_name)
    return [
        StagedLayer(name, identity, layer, state.first, state.last, [promotion(layer.at)])
        for name, layer in state.layers.items()
    ]


def copy_rows(rows: Iterable[StagedLayer]) -> list[str]:
    return [row.as_copy_row(_key_array(tuple(row.layer.fields)), f"\t{row.entity_type or NULL}") for row in rows]


def _identity(tenant: str, asset_id: str, qualified_name: str) -> str:
    return f"{tenant}\t{asset_id}\t{escaped_json(qualified_name)}"


@lru_cache(maxsize=4096)
def _key_array(keys: tuple[str, ...]) -> str:
    """A column with a text[] literal. Assets of one type state the same fields, so the cache nearly always has it."""
    quoted = ('"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"' for key in keys)
    return "\t" + escaped_json("{" + ",".join(quoted) + "}")
