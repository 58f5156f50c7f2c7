"""Walks the lineage graph breadth first, from an asset in one direction, no further than is asked for.

A walk by levels would be a query for each, and a chain may be ten thousand long; a walk inside PostgreSQL would go
round every circle as often as it may be deep. So PostgreSQL fetches ahead, blindly and in the order of the walk, and
the walk itself, with its depth and what it has seen, is here.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from functools import cache
from typing import Literal, NamedTuple

from psycopg import sql

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

Way = Literal["downstream", "upstream"]
FIRST_ROWS, MOST_ROWS = 500, 16_000  # fetched at a time: a small graph is read at once, a large one in few pieces
MOST_COLUMNS = 5_000


class Step(NamedTuple):
    """An edge as it was come upon: from `here`, so many edges from the start, to `there`."""

    depth: int  # of `there`
    here: str
    there: str
    type: str
    propagates: bool
    masking: bool

    @property
    def place(self) -> tuple[int, str, str, str]:
        """Where it stands in the order of the walk."""
        return (self.depth, self.here, self.there, self.type)


class Walk:
    """One walk of one tenant. Raises what the database raises."""

    def __init__(self, database: Database, tenant: str, way: Way, *, living: bool) -> None:
        self._database, self._tenant = database, tenant
        self._walk, self._walk_on = (_walk_query(name, way, living=living) for name in ("walk", "walk_on"))
        self._edges: dict[str, list[Row]] = {}  # of assets that were fetched and not yet walked
        self._rest: dict[str, Row] = {}  # of an asset whose edges were cut off, the last that came
        self._rows = FIRST_ROWS

    async def steps(self, starts: Collection[str], depth: int) -> AsyncGenerator[Step, None]:
        """Every edge that leads away from the starts, level by level and in one order within each; each once."""
        seen = set(starts)
        level = sorted(seen)
        for at in range(1, depth + 1):
            found: set[str] = set()
            for place, here in enumerate(level):
                async for _, there, kind, propagates, masking in self._leaving(here, level, place, seen):
                    yield Step(at, here, there, kind, propagates, masking)
                    if there not in seen:
                        found.add(there)
            if not found:
                return
            seen |= found
            level = sorted(found)

    async def _leaving(self, here: str, level: Sequence[str], place: int, seen: set[str]) -> AsyncIterator[Row]:
        """The edges of one asset. Those that come after it, and what lies beyond, are fetched along with it."""
        if here not in self._edges:
            await self._fetch([asset for asset in level[place : place + self._rows] if asset not in self._edges], seen)
        for row in self._edges.pop(here):
            yield row
        while here in self._rest:
            for row in await self._more(here, self._rest.pop(here)):
                yield row

    async def _fetch(self, assets: Sequence[str], seen: set[str]) -> None:
        # What was walked, or is here to be walked, need not come again.
        behind = (seen | self._edges.keys()).difference(assets)
        asked = {"ids": _array(assets), "behind": _array(behind), "limit": self._rows}
        rows = await self._database.fetch(self._tenant, self._walk, asked)
        for row in rows:
            edges = self._edges.setdefault(row[0], [])
            if row[1] is not None:
                edges.append(row)
        if len(rows) == self._rows and rows[-1][1] is not None:
            self._rest[rows[-1][0]] = rows[-1]
        self._rows = min(self._rows * 4, MOST_ROWS)

    async def _more(self, here: str, last: Row) -> list[Row]:
        asked = {"id": here, "there": last[1], "type": last[2], "limit": self._rows}
        rows = await self._database.fetch(self._tenant, self._walk_on, asked)
        if len(rows) == self._rows:
            self._rest[here] = rows[-1]
        self._rows = min(self._rows * 4, MOST_ROWS)
        return rows


async def columns_of(database: Database, tenant: str, asset_id: str) -> list[str]:
    """The children of an asset that are in the graph."""
    rows = await database.fetch(tenant, query("walk_columns"), {"id": asset_id, "limit": MOST_COLUMNS})
    return [row[0] for row in rows]


async def is_end(database: Database, tenant: str, asset_id: str) -> bool:
    """Whether an edge was ever stated that leads to the asset or away from it."""
    ((known,),) = await database.fetch(tenant, query("is_end"), {"id": asset_id})
    return bool(known)


@cache
def _walk_query(name: str, way: Way, *, living: bool) -> sql.Composed:
    here, there = ("from_id", "to_id") if way == "downstream" else ("to_id", "from_id")
    ends = {"here": sql.Identifier(here), "there": sql.Identifier(there)}
    only = sql.SQL(query("walk_living")).format(**ends) if living else sql.SQL("")
    return sql.SQL(query(name)).format(**ends, living=only)


def _array(ids: Collection[str]) -> str:
    """One value to quote, where a list would be one for each id."""
    return f"{{{','.join(ids)}}}"
