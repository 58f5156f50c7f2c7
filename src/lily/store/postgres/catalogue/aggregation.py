"""Folds the events of one batch to one staged row for each layer of each asset they speak about."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from lily.model import clock
from lily.model.assets import LayerName
from lily.model.events import AssetEvent
from lily.model.layers import Layer, merge
from lily.model.states import AssetState
from lily.store.postgres.copying import NULL, escaped_json

MAX_CAUSES = 20  # a layer that one batch states more often names its newest events only


@dataclass(slots=True)
class Folded:
    layer_name: LayerName
    tenant: str
    asset_id: str
    qualified_name: str
    layer: Layer
    first: str
    last: str
    causes: list[dict[str, str]]

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
            f"\t{escaped_json(orjson.dumps(self.causes).decode())}\n"
        )


def fold(events: Iterable[AssetEvent]) -> list[Folded]:
    found: dict[tuple[str, str], Folded] = {}
    for event in events:
        layer, statement, asset_id = event.layer(), event.statement, event.asset_id
        known = found.get((statement.layer, asset_id))
        if known is not None:
            known.add(event, layer)
            continue
        found[statement.layer, asset_id] = Folded(
            statement.layer,
            event.tenant,
            asset_id,
            statement.qualified_name,
            layer,
            event.time,
            event.time,
            [cause(event)],
        )
    return list(found.values())


def carried(state: AssetState) -> list[Folded]:
    """The layers of a state that the lake held. The newest event of each stands for all that made it."""
    return [
        Folded(
            name,
            state.tenant,
            state.id,
            state.qualified_name,
            layer,
            state.first,
            state.last,
            [{"id": layer.at.partition("/")[2], "time": clock.time_of(layer.at)}],
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
    """A text[] literal; assets of one kind state the same fields, so the cache nearly always has it."""
    quoted = ('"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"' for key in keys)
    return escaped_json("{" + ",".join(quoted) + "}")
