"""The rows that a batch stages for a layer merge: one per layer of an asset or edge, aggregated from its events."""

from collections.abc import Callable
from dataclasses import dataclass

import orjson

from lily.model.layers import Layer, merge
from lily.store.postgres.copying import NULL, escaped_json

MAX_CAUSES = 20  # per row: if more events of a batch state one layer, only the newest of them are recorded


@dataclass(slots=True)
class StagedLayer:
    name: str
    identity: str  # the columns that identify the asset or edge, as COPY text
    layer: Layer
    first: str  # the smallest event time
    last: str  # the largest
    causes: list[dict[str, str]]
    entity_type: str | None = None  # of an asset, as the writer of a user layer knew it; a source layer states its own

    def add(
        self, layer: Layer, time: str, cause: dict[str, str], merge: Callable[[Layer, Layer], Layer] = merge
    ) -> None:
        """Merges another event of the batch that states this layer."""
        self.layer = merge(self.layer, layer)
        self.first, self.last = min(self.first, time), max(self.last, time)
        self.causes = [*self.causes[1 - MAX_CAUSES :], cause]

    def as_copy_row(self, keys: str = "", more: str = "") -> str:
        """A line in COPY's text format. `keys` (the names of the fields) is a column that only the staged assets have,
        and `more` the last column, each with its separator."""
        clocks = NULL if self.layer.clocks is None else escaped_json(orjson.dumps(self.layer.clocks).decode())
        return (
            f"{self.name}\t{self.identity}\t{escaped_json(orjson.dumps(self.layer.fields).decode())}{keys}"
            f"\t{escaped_json(self.layer.at)}\t{clocks}\t{self.first}\t{self.last}"
            f"\t{escaped_json(orjson.dumps(self.causes).decode())}{more}\n"
        )
