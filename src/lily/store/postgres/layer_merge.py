"""Merges staged rows into a table whose rows have layers: assets and edges, in the same two steps.

First, one statement merges every row whose newer statement replaces the stored layer, which is nearly always. The
rest (older, partial or repeated statements) is read, merged field by field with the model's merge, and written back.
"""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from lily.model.layers import Layer, merge
from lily.store.postgres.copying import copy_lines

# A layer that takes a megabyte may take seventeen once it is decoded, and a batch can be about thousands of these.
ROWS_AT_ONCE = 20
# Called for every merge field by field: name of the layer, key of the row, stored and merged layer, causes.
Observer = Callable[[str, Mapping[str, Any], Layer, Layer, Sequence[Any]], None]
# Called with the merged and the stored layer: whether the statement is left out because the layer would be too large.
Outgrows = Callable[[Layer, Layer], bool]
LayerQuery = Callable[[str, Any], sql.Composed]  # by the name of the query and the layer


class LayerMerge:
    """Runs in the caller's transaction. `keys` are the columns that identify a row, in the order of `unmerged.sql`.

    The staged table is empty when a transaction begins, or, if its rows are `kept`, has those of the last one. TRUNCATE
    makes a new file and has the next statement planned again, which costs more than to merge twenty rows: only a table
    that is rarely used is emptied that way.
    """

    def __init__(
        self,
        connection: Connection[Any],
        subject: str,
        staged: str,
        keys: Sequence[str],
        layer_query: LayerQuery,
        *,
        merge: Callable[[Layer, Layer], Layer] = merge,
        observer: Observer | None = None,
        kept: bool = False,
    ) -> None:
        self._connection, self._subject, self._staged, self._keys = connection, subject, staged, keys
        self._query, self._merge, self._observer = layer_query, merge, observer
        self._outgrows: Outgrows | None = None
        self._unlimited: Container[tuple[str, str]] = ()
        self.left_out: set[tuple[Any, ...]] = set()  # layer and keys of the rows of the last merge that are too large
        self._clear = sql.SQL("truncate {}" if kept else "delete from {}").format(sql.Identifier(staged))

    def limit(self, outgrows: Outgrows | None, unlimited: Container[tuple[str, str]] = ()) -> None:
        """Of the rows to merge, leave out those that make a layer outgrow a limit, but for the `unlimited`: pairs of a
        layer and an id."""
        self._outgrows, self._unlimited = outgrows, unlimited

    def merge(self, batch: int, lines: Sequence[str], layers: Mapping[Any, int]) -> Counter[str]:
        """`lines` are the rows for COPY, `layers` the number of rows per layer."""
        self.left_out.clear()
        self._connection.execute(self._clear)
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
            changed += self._reconcile(parameters, staged)
        return Counter(merged=staged, changed=changed)

    def _reconcile(self, parameters: Mapping[str, Any], staged: int) -> int:
        unmerged = self._query(f"{self._subject}/unmerged", parameters["layer"])
        if staged <= ROWS_AT_ONCE:
            return self._update(parameters, self._connection.execute(unmerged, parameters).fetchall())
        changed = 0
        with self._connection.cursor("unmerged") as stored:
            stored.execute(unmerged, parameters)
            while some := stored.fetchmany(ROWS_AT_ONCE):
                changed += self._update(parameters, some)
                some.clear()  # before the next are read
        return changed

    def _update(self, parameters: Mapping[str, Any], rows: Sequence[tuple[Any, ...]]) -> int:
        layer = parameters["layer"]
        merged = (self._merged(layer, row) for row in rows)
        updates = [{**parameters, **one} for one in merged if one is not None]
        if not updates:
            return 0
        cursor = self._connection.cursor()
        cursor.executemany(self._query(f"{self._subject}/reconcile", layer), updates)
        return max(cursor.rowcount, 0)

    def _merged(self, layer: str, row: tuple[Any, ...]) -> dict[str, Any] | None:
        fields, at, clocks, first, last, causes, *stored = row[len(self._keys) :]
        key = dict(zip(self._keys, row[: len(self._keys)], strict=True))
        before = Layer(*stored)
        result = self._merge(before, Layer(fields, at, clocks))
        if self._is_too_large(layer, key, result, before):
            self.left_out.add((layer, *key.values()))
            return None
        if self._observer is not None:
            self._observer(layer, key, before, result, causes)
        return {
            **key,
            "fields": Jsonb(result.fields),
            "at": result.at,
            "clocks": None if result.clocks is None else Jsonb(result.clocks),
            "first": first,
            "last": last,
            "causes": Jsonb(causes),
        }

    def _is_too_large(self, layer: str, key: Mapping[str, Any], after: Layer, before: Layer) -> bool:
        if self._outgrows is None or (layer, key.get("id", "")) in self._unlimited:
            return False
        return self._outgrows(after, before)
