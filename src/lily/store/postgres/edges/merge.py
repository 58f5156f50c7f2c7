"""Merges statements about edges: by the same rules as an asset's layers, and in the same two steps."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import psycopg

from lily.model.causes import cause_of
from lily.model.edge_layers import merge_edges
from lily.model.edges import EdgeEvent, EdgeKey
from lily.store.postgres.copying import NULL, escaped, escaped_json
from lily.store.postgres.edges.named_ends import name_ends
from lily.store.postgres.layer_merge import LayerMerge
from lily.store.postgres.queries import layer_query, query
from lily.store.postgres.staged_layers import StagedLayer


@dataclass(slots=True)
class StagedEdge:
    staged: StagedLayer
    authority: EdgeEvent | None = None  # the newest event that has authority

    def as_copy_row(self) -> str:
        if self.authority is None:
            return self.staged.as_copy_row(more=f"\t{NULL}")
        cause = {**cause_of(self.authority), "layer": self.staged.name}
        return self.staged.as_copy_row(more=f"\t{escaped_json(orjson.dumps(cause).decode())}")


def aggregate_edges(events: Iterable[EdgeEvent]) -> list[StagedEdge]:
    """One row per layer of an edge that the events state."""
    rows: dict[tuple[str, str, EdgeKey], StagedEdge] = {}
    for event in events:
        statement, layer, cause = event.statement, event.layer(), cause_of(event)
        row = rows.get((statement.layer, event.tenant, statement.key))
        if row is None:
            staged = StagedLayer(statement.layer, _identity(event), layer, event.time, event.time, [cause])
            row = rows[statement.layer, event.tenant, statement.key] = StagedEdge(staged)
        else:
            row.staged.add(layer, event.time, cause, merge_edges)
        if statement.authorised and (row.authority is None or row.authority.clock < event.clock):
            row.authority = event
    return list(rows.values())


class EdgeMerger:
    """Runs in the caller's transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        connection.execute(query("edges/stage"))
        keys = ("tenant_id", "from_id", "to_id", "type")
        self._layers = LayerMerge(connection, "edges", "staged_edges", keys, layer_query, merge=merge_edges, kept=True)

    def merge(self, batch: int, events: Sequence[EdgeEvent]) -> Counter[str]:
        rows = aggregate_edges(events)
        name_ends(self._connection, events)
        return self._layers.merge(batch, [row.as_copy_row() for row in rows], Counter(row.staged.name for row in rows))


def _identity(event: EdgeEvent) -> str:
    key = event.statement.key
    return f"{event.tenant}\t{key.from_id}\t{key.to_id}\t{escaped(key.type)}"
