"""Merges staged rows into a table whose rows have layers: assets and edges, in the same two steps.

First, one statement merges every row whose newer statement replaces the stored layer, which is nearly always. The
rest (older, partial or repeated statements) is read, merged field by field with the model's `merge`, and written back.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from lily.model.layers import Layer, merge
from lily.store.postgres.copying import copy_lines

LayerQuery = Callable[[str, Any], sql.Composed]  # by the name of the query and the layer


class LayerMerge:
    """Runs in the caller's transaction. `keys` are the columns that identify a row, in the order of `unmerged.sql`."""

    def __init__(
        self, connection: Connection[Any], subject: str, staged: str, keys: Sequence[str], layer_query: LayerQuery
    ) -> None:
        self._connection, self._subject, self._staged, self._keys = connection, subject, staged, keys
        self._query = layer_query

    def merge(self, batch: int, lines: Sequence[str], layers: Mapping[Any, int]) -> Counter[str]:
        """`lines` are the rows for COPY, `layers` the number of rows per layer."""
        self._connection.execute(sql.SQL("truncate {}").format(sql.Identifier(self._staged)))
        copy_lines(self._connection, self._staged, lines)
        counts: Counter[str] = Counter()
        for layer, staged in layers.items():
            counts += self._merge_layer(batch, layer, staged)
        return counts

    def _merge_layer(self, batch: int, layer: Any, staged: int) -> Counter[str]:
        parameters = {"layer": layer, "batch": batch}
        cursor = self._connection.execute(self._query(f"{self._subject}/merge", layer), parameters)
        merged, changed = cursor.fetchone() or (0, 0)
        if merged < staged:
            changed += self._reconcile(parameters)
        return Counter(merged=staged, changed=changed)

    def _reconcile(self, parameters: Mapping[str, Any]) -> int:
        layer = parameters["layer"]
        unmerged = self._query(f"{self._subject}/unmerged", layer)
        rows = self._connection.execute(unmerged, parameters).fetchall()
        cursor = self._connection.cursor()
        if rows:
            updates = [{**parameters, **self._merged(row)} for row in rows]
            cursor.executemany(self._query(f"{self._subject}/reconcile", layer), updates)
        return max(cursor.rowcount, 0)

    def _merged(self, row: tuple[Any, ...]) -> dict[str, Any]:
        key, (fields, at, clocks, first, last, causes, *stored) = row[: len(self._keys)], row[len(self._keys) :]
        result = merge(Layer(*stored), Layer(fields, at, clocks))
        return {
            **dict(zip(self._keys, key, strict=True)),
            "fields": Jsonb(result.fields),
            "at": result.at,
            "clocks": None if result.clocks is None else Jsonb(result.clocks),
            "first": first,
            "last": last,
            "causes": Jsonb(causes),
        }
