"""Aggregates the events of one batch to one staged row per asset and layer."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from lily.model.assets import LayerName
from lily.model.changes import promotion
from lily.model.events import AssetEvent
from lily.model.layers import Layer, merge
from lily.model.states import AssetState
from lily.store.postgres.copying import NULL, escaped_json

MAX_CAUSES = 20  # a row keeps only its newest events


@dataclass(slots=True)
class StagedLayer:
    layer_name: LayerName
    tenant: str
    asset_id: str
    qualified_name: str
    layer: Layer
    first: str
    last: str
    causes: list[dict[str, str]]
    entity_type: str | None = None  # as the writer of a user layer knew it; a source layer states its own

    def add(self, event: AssetEvent, layer: Layer) -> None:
        self.layer = merge(self.layer, layer)
        self.first, self.last = min(self.first, event.time), max(self.last, event.time)
        self.causes = [*self.causes[1 - MAX_CAUSES :], cause(event)]

    def as_copy_row(self) -> str:
        """A line of COPY's text format. JSON escapes control characters itself, so only backslashes are left."""
        clocks = NULL if self.layer.clocks is None else escaped_json(orjson.dumps(self.layer.clocks).decode())
        return (
            f"{self.layer_name}\t{self.tenant}\t{self.asset_id}\t{escaped_json(self.qualified_name)}"
            f"\t{escaped_json(orjson.dumps(self.layer.fields).decode())}\t{_key_array(tuple(self.layer.fields))}"
            f"\t{escaped_json(self.layer.at)}\t{clocks}\t{self.first}\t{self.last}"
            f"\t{escaped_json(orjson.dumps(self.causes).decode())}\t{self.entity_type or NULL}\n"
        )


def aggregate(events: Iterable[AssetEvent]) -> list[StagedLayer]:
    found: dict[tuple[str, str], StagedLayer] = {}
    for event in events:
        layer, statement, asset_id = event.layer(), event.statement, event.asset_id
        known = found.get((statement.layer, asset_id))
        if known is not None:
            known.add(event, layer)
            continue
        found[statement.layer, asset_id] = StagedLayer(
            statement.layer,
            event.tenant,
            asset_id,
            statement.qualified_name,
            layer,
            event.time,
            event.time,
            [cause(event)],
            statement.entity_type if statement.layer != "source" else None,
        )
    return list(found.values())


def layers_of(state: AssetState) -> list[StagedLayer]:
    """The layers of a state from the lake. The cause of each is its newest event."""
    return [
        StagedLayer(
            name,
            state.tenant,
            state.id,
            state.qualified_name,
            layer,
            state.first,
            state.last,
            [promotion(layer.at)],
        )
        for name, layer in state.layers.items()
    ]


def cause(event: AssetEvent) -> dict[str, Any]:
    stated = {
        "id": event.id,
        "time": event.time,
        "by": event.statement.by,
        "correlation": event.correlation,
        "trace": event.trace,
    }
    return {key: value for key, value in stated.items() if value}


@lru_cache(maxsize=4096)
def _key_array(keys: tuple[str, ...]) -> str:
    """A text[] literal, cached because assets of the same type state the same fields."""
    quoted = ('"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"' for key in keys)
    return escaped_json("{" + ",".join(quoted) + "}")
