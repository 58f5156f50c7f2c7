"""The API's connections, counting what PostgreSQL reads for each statement: the same on a busy machine."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from psycopg import sql

from lily.store.postgres.sessions import Database, Query, Row

_EXPLAIN = sql.SQL("explain (analyze, buffers, format json) ")


class CountedReads(Database):
    """`blocks` were read, those of functions included; `scans` has how often each table was looked at, without what
    functions do."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.blocks = 0
        self.scans: Counter[str] = Counter()

    async def fetch(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        rows = await super().fetch(tenant, statement, parameters)
        written = sql.SQL(statement) if isinstance(statement, str) else statement
        (((plan,),),) = await super().fetch(tenant, _EXPLAIN + written, parameters)
        self.blocks += plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
        for node in _nodes(plan["Plan"]):
            if "Relation Name" in node:
                self.scans[node["Relation Name"]] += node["Actual Loops"]
        return rows


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)
