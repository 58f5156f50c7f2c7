"""Traverses the lineage graph breadth first, from some assets in one direction.

One query per level would be too many: a chain may be ten thousand edges long. A recursive query in PostgreSQL would
follow every cycle as often as the depth allows. So PostgreSQL prefetches edges in breadth-first order, without depth or
cycle checks, and the search with its depth and visited assets runs here. A wide level gets a query of its own, because
prefetching looks up every edge twice.
"""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from functools import cache
from typing import Any, Literal

from psycopg import sql

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

TraversalDirection = Literal["downstream", "upstream"]
FIRST_ROWS, MAX_ROWS = 500, 16_000  # per query: a small graph takes one query, a large one few
WIDE_LEVEL = 100  # assets
MAX_COLUMNS = 5_000


class GraphTraversal:
    """One traversal in one tenant. Raises what the database raises."""

    def __init__(self, database: Database, tenant: str, direction: TraversalDirection, *, skip_deleted: bool) -> None:
        self._database, self._tenant = database, tenant
        self._prefetching, self._level, self._more = (
            _edges_query(name, direction, skip_deleted=skip_deleted, prefetch=prefetch)
            for name, prefetch in (("graph/edges_from", True), ("graph/edges_from", False), ("graph/more_edges", False))
        )
        self._edges: dict[str, list[Row]] = {}  # of assets that were fetched and not yet visited
        self._last: dict[str, Row] = {}  # of an asset whose edges were cut off by the limit, the last one fetched
        self._rows = FIRST_ROWS

    async def edges(self, starts: Collection[str], depth: int) -> AsyncGenerator[tuple[int, list[Row]], None]:
        """Every edge that leads away from the starts, once, as (here, there, type, propagates, masking, assumed), with
        the depth of `there`. Yields them level by level, sorted within each, in chunks as they are fetched."""
        visited = set(starts)
        level = sorted(visited)
        for at in range(1, depth + 1):
            found: set[str] = set()
            async with aclosing(self._edges_of_level(level, visited)) as chunks:
                async for rows in chunks:
                    yield at, rows
                    found.update([row[1] for row in rows])
            found -= visited
            if not found:
                return
            visited |= found
            level = sorted(found)

    async def _edges_of_level(self, level: Sequence[str], visited: set[str]) -> AsyncGenerator[list[Row], None]:
        """The edges of the assets of a level. A query also prefetches those of later assets and of the next levels."""
        rows: list[Row] = []
        for index, here in enumerate(level):
            if here not in self._edges:
                if rows:
                    yield rows
                    rows = []
                await self._fetch(
                    [asset for asset in level[index : index + self._rows] if asset not in self._edges], visited
                )
            rows += self._edges.pop(here)
            while here in self._last:
                yield rows
                rows = await self._fetch_more(here, self._last.pop(here))
        if rows:
            yield rows

    async def _fetch(self, assets: Sequence[str], visited: set[str]) -> None:
        parameters: dict[str, Any] = {"ids": id_array(assets), "limit": self._rows}
        if len(assets) >= WIDE_LEVEL:
            rows = await self._database.fetch(self._tenant, self._level, parameters)
        else:
            # Assets that were visited, or whose edges are here already, need not be fetched again.
            behind = (visited | self._edges.keys()).difference(assets)
            rows = await self._database.fetch(
                self._tenant, self._prefetching, parameters | {"behind": id_array(behind)}
            )
        for row in rows:
            edges = self._edges.setdefault(row[0], [])
            if row[1] is not None:
                edges.append(row)
        if len(rows) == self._rows and rows[-1][1] is not None:
            self._last[rows[-1][0]] = rows[-1]
        self._rows = min(self._rows * 4, MAX_ROWS)

    async def _fetch_more(self, here: str, last: Row) -> list[Row]:
        parameters = {"id": here, "there": last[1], "type": last[2], "limit": self._rows}
        rows = await self._database.fetch(self._tenant, self._more, parameters)
        if len(rows) == self._rows:
            self._last[here] = rows[-1]
        self._rows = min(self._rows * 4, MAX_ROWS)
        return rows


async def columns_of(database: Database, tenant: str, asset_id: str) -> list[str]:
    """The children of an asset that are in the graph."""
    rows = await database.fetch(tenant, query("graph/columns"), {"id": asset_id, "limit": MAX_COLUMNS})
    return [row[0] for row in rows]


async def has_edges(database: Database, tenant: str, asset_id: str) -> bool:
    """Whether an edge to or from the asset was ever stated."""
    ((found,),) = await database.fetch(tenant, query("graph/has_edges"), {"id": asset_id})
    return bool(found)


@cache
def _edges_query(name: str, direction: TraversalDirection, *, skip_deleted: bool, prefetch: bool) -> sql.Composed:
    here, there = ("from_id", "to_id") if direction == "downstream" else ("to_id", "from_id")
    ends = {"here": sql.Identifier(here), "there": sql.Identifier(there)}
    condition = sql.SQL(query("graph/skip_deleted")).format(**ends) if skip_deleted else sql.SQL("")
    next_levels = sql.SQL(query("graph/prefetch")).format(**ends, skip_deleted=condition) if prefetch else sql.SQL("")
    return sql.SQL(query(name)).format(**ends, skip_deleted=condition, prefetch=next_levels)
