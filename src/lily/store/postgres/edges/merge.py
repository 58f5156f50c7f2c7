"""Merges what events state about edges: by the rules of an asset's layers, and with the same two steps."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson
import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from lily.model.edges import ClaimsEvent, EdgeEvent, EdgeKey, EdgeLayer
from lily.model.layers import Layer, merge
from lily.store.postgres.catalogue.aggregation import MAX_CAUSES
from lily.store.postgres.queries import query


@dataclass(slots=True)
class FoldedEdge:
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
        clocks = "\\N" if self.layer.clocks is None else copied(orjson.dumps(self.layer.clocks).decode())
        return (
            f"{self.layer_name}\t{self.tenant}\t{self.key.from_id}\t{self.key.to_id}\t{copied(self.key.type)}"
            f"\t{copied(orjson.dumps(self.layer.fields).decode())}\t{copied(self.layer.at)}\t{clocks}"
            f"\t{self.first}\t{self.last}\t{copied(orjson.dumps(self.causes).decode())}\n"
        )


def fold(events: Iterable[EdgeEvent]) -> list[FoldedEdge]:
    found: dict[tuple[str, str, EdgeKey], FoldedEdge] = {}
    for event in events:
        stated = event.statement
        place = (stated.layer, event.tenant, stated.key)
        if place in found:
            found[place].add(event)
        else:
            found[place] = FoldedEdge(
                stated.layer, event.tenant, stated.key, event.layer(), event.time, event.time, [cause(event)]
            )
    return list(found.values())


class EdgeMerger:
    """Works within the transaction of whoever calls it."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        connection.execute(query("edges/stage"))

    def merge(self, batch: int, events: Sequence[EdgeEvent]) -> Counter[str]:
        rows = fold(events)
        self._connection.execute("truncate staged_edges")
        copy_in(self._connection, "copy staged_edges from stdin", [row.as_copy_row() for row in rows])
        counts: Counter[str] = Counter()
        for layer, staged in Counter(row.layer_name for row in rows).items():
            counts += self._merge_layer(batch, layer, staged)
        return counts

    def _merge_layer(self, batch: int, layer: EdgeLayer, staged: int) -> Counter[str]:
        cursor = self._connection.execute(edge_query("edges/merge", layer), {"layer": layer, "batch": batch})
        merged, changed = cursor.fetchone() or (0, 0)
        if merged < staged:
            changed += self._reconcile(batch, layer)
        return Counter(merged=staged, changed=changed)

    def _reconcile(self, batch: int, layer: EdgeLayer) -> int:
        found = self._connection.execute(edge_query("edges/left_over", layer), {"layer": layer}).fetchall()
        cursor = self._connection.cursor()
        if found:
            cursor.executemany(edge_query("edges/reconcile", layer), [_reconciled(batch, row) for row in found])
        return max(cursor.rowcount, 0)


def _reconciled(batch: int, row: tuple[Any, ...]) -> dict[str, Any]:
    tenant, from_id, to_id, kind, fields, at, clocks, first, last, causes, *stored = row
    result = merge(Layer(*stored), Layer(fields, at, clocks))
    return {
        "batch": batch,
        "tenant_id": tenant,
        "from_id": from_id,
        "to_id": to_id,
        "type": kind,
        "fields": Jsonb(result.fields),
        "at": result.at,
        "clocks": None if result.clocks is None else Jsonb(result.clocks),
        "first": first,
        "last": last,
        "causes": Jsonb(causes),
    }


@cache
def edge_query(name: str, layer: EdgeLayer = "source") -> sql.Composed:
    """A query about one layer of edges; `{shown}` tells what an edge showed before and shows now."""
    return sql.SQL(query(name)).format(
        values=sql.Identifier(layer),
        at=sql.Identifier(f"{layer}_at"),
        clocks=sql.Identifier(f"{layer}_clocks"),
        shown=sql.SQL(query("edges/shown")),
    )


def cause(event: EdgeEvent | ClaimsEvent) -> dict[str, str]:
    by = event.by if isinstance(event, ClaimsEvent) else event.statement.by
    told = {"id": event.id, "time": event.time, "by": by, "correlation": event.correlation, "trace": event.trace}
    return {key: value for key, value in told.items() if value}


def copy_in(connection: psycopg.Connection[Any], statement: sql.SQL | str, lines: Sequence[str]) -> None:
    with connection.cursor().copy(sql.SQL(statement) if isinstance(statement, str) else statement) as copy:
        for start in range(0, len(lines), 500):
            copy.write("".join(lines[start : start + 500]))


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copied(text: str) -> str:
    """A value of COPY's text format."""
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)
