"""Merges what events state about edges: by the rules of an asset's layers, and with the same two steps."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import psycopg

from lily.model.edges import ClaimsEvent, EdgeEvent, EdgeKey, EdgeLayer
from lily.model.layers import Layer, merge
from lily.store.postgres.catalogue.aggregation import MAX_CAUSES
from lily.store.postgres.copying import NULL, escaped, escaped_json
from lily.store.postgres.layer_merge import LayerMerge
from lily.store.postgres.queries import layer_query, query


@dataclass(slots=True)
class StagedEdge:
    """What a batch states in one layer of one edge."""

    layer_name: EdgeLayer
    tenant: str
    key: EdgeKey
    layer: Layer
    first: str
    last: str
    causes: list[dict[str, str]]

    def add(self, event: EdgeEvent) -> None:
        self.layer = merge(self.layer, event.layer())
        self.first, self.last = min(self.first, event.time), max(self.last, event.time)
        self.causes = [*self.causes[1 - MAX_CAUSES :], cause(event)]

    def as_copy_row(self) -> str:
        clocks = NULL if self.layer.clocks is None else escaped_json(orjson.dumps(self.layer.clocks).decode())
        return (
            f"{self.layer_name}\t{self.tenant}\t{self.key.from_id}\t{self.key.to_id}\t{escaped(self.key.type)}"
            f"\t{escaped_json(orjson.dumps(self.layer.fields).decode())}\t{escaped(self.layer.at)}\t{clocks}"
            f"\t{self.first}\t{self.last}\t{escaped_json(orjson.dumps(self.causes).decode())}\n"
        )


def aggregate(events: Iterable[EdgeEvent]) -> list[StagedEdge]:
    found: dict[tuple[str, str, EdgeKey], StagedEdge] = {}
    for event in events:
        stated = event.statement
        place = (stated.layer, event.tenant, stated.key)
        if place in found:
            found[place].add(event)
        else:
            found[place] = StagedEdge(
                stated.layer, event.tenant, stated.key, event.layer(), event.time, event.time, [cause(event)]
            )
    return list(found.values())


class EdgeMerger:
    """Works in the caller's transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(query("edges/stage"))
        keys = ("tenant_id", "from_id", "to_id", "type")
        self._layers = LayerMerge(connection, "edges", "staged_edges", keys, layer_query)

    def merge(self, batch: int, events: Sequence[EdgeEvent]) -> Counter[str]:
        rows = aggregate(events)
        return self._layers.merge(batch, [row.as_copy_row() for row in rows], Counter(row.layer_name for row in rows))


def cause(event: EdgeEvent | ClaimsEvent) -> dict[str, str]:
    by = event.by if isinstance(event, ClaimsEvent) else event.statement.by
    told = {"id": event.id, "time": event.time, "by": by, "correlation": event.correlation, "trace": event.trace}
    return {key: value for key, value in told.items() if value}
