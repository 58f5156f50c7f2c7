"""Walks the lineage graph breadth first, from an asset in one direction, no further than is asked for.

A walk by levels would be a query for each, and a chain may be ten thousand long; a walk inside PostgreSQL would go
round every circle as often as it may be deep. So PostgreSQL fetches ahead, blindly and in the order of the walk, and
the walk itself, with its depth and what it has seen, is here. A wide level is worth a query of its own: fetching ahead
looks everything up twice.
"""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from functools import cache
from typing import Any, Literal

from psycopg import sql

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

Way = Literal["downstream", "upstream"]
FIRST_ROWS, MOST_ROWS = 500, 16_000  # fetched at a time: a small graph is read at once, a large one in few pieces
WIDE = 100  # assets of one level
MOST_COLUMNS = 5_000


class Walk:
    """One walk of one tenant. Raises what the database raises."""

    def __init__(self, database: Database, tenant: str, way: Way, *, living: bool) -> None:
        self._database, self._tenant = database, tenant
        self._ahead, self._level, self._on = (
            _walk_query(name, way, living=living, ahead=ahead)
            for name, ahead in (("graph/walk", True), ("graph/walk", False), ("graph/walk_on", False))
        )
        self._edges: dict[str, list[Row]] = {}  # of assets that were fetched and not yet walked
        self._rest: dict[str, Row] = {}  # of an asset whose edges were cut off, the last that came
        self._rows = FIRST_ROWS

    async def stretches(self, starts: Collection[str], depth: int) -> AsyncGenerator[tuple[int, list[Row]], None]:
        """Every edge that leads away from the starts, once: (here, there, type, propagates, masking), and the depth of
        `there`. Level by level and in one order within each; a stretch is as much as is at hand."""
        seen = set(starts)
        level = sorted(seen)
        for at in range(1, depth + 1):
            found: set[str] = set()
            async with aclosing(self._of_level(level, seen)) as stretches:
                async for rows in stretches:
                    yield at, rows
                    found.update([row[1] for row in rows])
            found -= seen
            if not found:
                return
            seen |= found
            level = sorted(found)

    async def _of_level(self, level: Sequence[str], seen: set[str]) -> AsyncGenerator[list[Row], None]:
        """The edges of the assets of a level. Those that come later, and what lies beyond, are fetched along."""
        rows: list[Row] = []
        for place, here in enumerate(level):
            if here not in self._edges:
                if rows:
                    yield rows
                    rows = []
                await self._fetch(
                    [asset for asset in level[place : place + self._rows] if asset not in self._edges], seen
                )
            rows += self._edges.pop(here)
            while here in self._rest:
                yield rows
                rows = await self._more(here, self._rest.pop(here))
        if rows:
            yield rows

    async def _fetch(self, assets: Sequence[str], seen: set[str]) -> None:
        asked: dict[str, Any] = {"ids": id_array(assets), "limit": self._rows}
        if len(assets) >= WIDE:
            rows = await self._database.fetch(self._tenant, self._level, asked)
        else:
            # What was walked, or is here to be walked, need not come again.
            behind = (seen | self._edges.keys()).difference(assets)
            rows = await self._database.fetch(self._tenant, self._ahead, asked | {"behind": id_array(behind)})
        for row in rows:
            edges = self._edges.setdefault(row[0], [])
            if row[1] is not None:
                edges.append(row)
        if len(rows) == self._rows and rows[-1][1] is not None:
            self._rest[rows[-1][0]] = rows[-1]
        self._rows = min(self._rows * 4, MOST_ROWS)

    async def _more(self, here: str, last: Row) -> list[Row]:
        asked = {"id": here, "there": last[1], "type": last[2], "limit": self._rows}
        rows = await self._database.fetch(self._tenant, self._on, asked)
        if len(rows) == self._rows:
            self._rest[here] = rows[-1]
        self._rows = min(self._rows * 4, MOST_ROWS)
        return rows


async def columns_of(database: Database, tenant: str, asset_id: str) -> list[str]:
    """The children of an asset that are in the graph."""
    rows = await database.fetch(tenant, query("graph/walk_columns"), {"id": asset_id, "limit": MOST_COLUMNS})
    return [row[0] for row in rows]


async def is_end(database: Database, tenant: str, asset_id: str) -> bool:
    """Whether an edge was ever stated that leads to the asset or away from it."""
    ((known,),) = await database.fetch(tenant, query("graph/is_end"), {"id": asset_id})
    return bool(known)


@cache
def _walk_query(name: str, way: Way, *, living: bool, ahead: bool) -> sql.Composed:
    here, there = ("from_id", "to_id") if way == "downstream" else ("to_id", "from_id")
    ends = {"here": sql.Identifier(here), "there": sql.Identifier(there)}
    only = sql.SQL(query("graph/walk_living")).format(**ends) if living else sql.SQL("")
    beyond = sql.SQL(query("graph/walk_ahead")).format(**ends, living=only) if ahead else sql.SQL("")
    return sql.SQL(query(name)).format(**ends, living=only, ahead=beyond)
