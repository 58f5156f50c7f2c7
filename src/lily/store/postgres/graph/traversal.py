"""Traverses the lineage graph breadth first, from some assets in one direction.

One query per level would be too many: a chain may be ten thousand edges long. A recursive query in PostgreSQL would
follow every cycle as often as the depth allows. So PostgreSQL prefetches edges in breadth-first order, without depth or
cycle checks, and the search with its depth and visited assets runs here. A wide level gets a query of its own, because
prefetching looks up every edge twice.
"""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from functools import cache
from typing import Literal

from psycopg import sql

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

TraversalDirection = Literal["downstream", "upstream"]
FIRST_ROWS, MAX_ROWS = (500, 2_000), 16_000  # per query: a small graph takes one query, a large one few
WIDE_LEVEL = 100  # assets
MAX_COLUMNS = 5_000


class GraphTraversal:
    """One traversal in one tenant. Raises what the database raises."""

    def __init__(
        self, database: Database, tenant: str, direction: TraversalDirection, wanted: int, *, skip_deleted: bool
    ) -> None:
        """`wanted`: the most edges that will be read."""
        self._database, self._tenant = database, tenant
        self._prefetching, self._level, self._more = (
            _edges_query(name, direction, skip_deleted=skip_deleted, prefetch=prefetch)
            for name, prefetch in (("graph/edges_from", True), ("graph/level", False), ("graph/more_edges", False))
        )
        self._edges: dict[str, list[Row]] = {}  # of assets that were fetched and not yet visited
        fewest, most = FIRST_ROWS
        self._rows = min(max(wanted // 2, fewest), most)

    async def edges(self, starts: Collection[str], depth: int) -> AsyncGenerator[tuple[int, list[Row]], None]:
        """Every edge that leads away from the starts, once, as (here, there, type, propagates, masking, assumed), with
        the depth of `there`. Yields them level by level, sorted within each, in chunks as they are fetched."""
        visited = set(starts)
        level = sorted(visited)
        for at in range(1, depth + 1):
            found: set[str] = set()
            async with aclosing(self._edges_of_level(level, visited, last=at == depth)) as chunks:
                async for rows in chunks:
                    yield at, rows
                    found.update([row[1] for row in rows])
            found -= visited
            if not found:
                return
            visited |= found
            level = sorted(found)

    async def _edges_of_level(
        self, level: Sequence[str], visited: set[str], *, last: bool
    ) -> AsyncGenerator[list[Row], None]:
        """The edges of the assets of a level, which may have been prefetched with those of an earlier one."""
        missing = [asset for asset in level if asset not in self._edges]
        if missing and not last and len(level) < WIDE_LEVEL:
            await self._prefetch(missing, visited)
        complete = next((index for index, asset in enumerate(level) if asset not in self._edges), len(level))
        if rows := [row for asset in level[:complete] for row in self._edges.pop(asset)]:
            yield rows
        # If the limit on rows was reached within a narrow level, the next one is wide.
        async with aclosing(self._fetch_level(level[complete:])) as chunks:
            async for rows in chunks:
                yield rows

    async def _fetch_level(self, level: Sequence[str]) -> AsyncGenerator[list[Row], None]:
        """The edges of these assets, by queries for nothing else. What was prefetched of some of them is read again: it
        is little, and the rows are in order as they are."""
        index = 0
        while index < len(level):
            limit = self._rows
            assets = level[index : index + limit]
            rows = await self._database.fetch(self._tenant, self._level, {"ids": id_array(assets), "limit": limit})
            self._rows = min(limit * 4, MAX_ROWS)
            yield rows
            index += len(assets)
            while len(rows) == limit:  # the edges of the last asset may go on
                here, there, kind = rows[-1][:3]
                index = bisect_right(level, here)  # ids have the same order as text
                limit = self._rows
                rows = await self._fetch_more(here, there, kind)
                yield rows

    async def _prefetch(self, assets: Sequence[str], visited: set[str]) -> None:
        """Reads the edges of these assets and of the next levels, as far as the limit on rows reaches."""
        # Assets that were visited, or whose edges are here already, need not be fetched again.
        behind = (visited | self._edges.keys()).difference(assets)
        parameters = {"ids": id_array(assets), "behind": id_array(behind), "limit": self._rows}
        rows = await self._database.fetch(self._tenant, self._prefetching, parameters)
        for row in rows:
            edges = self._edges.setdefault(row[0], [])
            if row[1] is not None:
                edges.append(row)
        if len(rows) == self._rows:
            del self._edges[rows[-1][0]]  # some may be missing
        self._rows = min(self._rows * 4, MAX_ROWS)

    async def _fetch_more(self, here: str, there: str, kind: str) -> list[Row]:
        parameters = {"id": here, "there": there, "type": kind, "limit": self._rows}
        return await self._database.fetch(self._tenant, self._more, parameters)


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
