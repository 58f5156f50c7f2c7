"""Detects origins that reach an asset after a person suppressed the tag there: the reason may not hold for them."""

from typing import Any, NamedTuple

import psycopg

from lily.lineage.breadth_first import BreadthFirstSearch, Neighbour
from lily.store.postgres.propagation.level_queries import BACKWARD, level_parameters, level_query
from lily.store.postgres.queries import query

MAX_SUPPRESSIONS = 200  # of a tenant, checked per run
MAX_VISITED = 20_000  # assets per search


class NewOrigin(NamedTuple):
    tag: str
    origin: str
    asset_id: str


class NewOrigins:
    """Runs in the caller's transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def detect(self, tenant: str) -> list[NewOrigin]:
        """Stores new origins, and returns those that were not stored before."""
        self._connection.execute(query("propagation/delete_stale_new_origins"), {"tenant": tenant})
        parameters = {"tenant": tenant, "limit": MAX_SUPPRESSIONS}
        rows = self._connection.execute(query("propagation/suppressions"), parameters).fetchall()
        detected: list[NewOrigin] = []
        for asset_id, parent, tag, max_depth, cut, known in rows:
            start = {"tenant": tenant, "tag": tag, "start": asset_id, "parent": parent, "cut": cut}
            new = sorted(self._origins(start, max_depth) - set(known) - {asset_id})
            if new:
                values = {"tenant": tenant, "asset": asset_id, "tag": tag, "origins": new}
                inserted = self._connection.execute(query("propagation/insert_new_origins"), values).fetchall()
                detected += [NewOrigin(tag, origin, asset_id) for (origin,) in inserted]
        return detected

    def publish(self, tenant: str, batch: int, new_origins: list[NewOrigin]) -> None:
        values = {
            "tenant": tenant,
            "batch": batch,
            "tags": [one.tag for one in new_origins],
            "origins": [one.origin for one in new_origins],
            "assets": [one.asset_id for one in new_origins],
        }
        self._connection.execute(query("propagation/publish_new_origins"), values)

    def _origins(self, start: dict[str, Any], max_depth: int | None) -> set[str]:
        search = BreadthFirstSearch(start["start"], max_depth, content=False)
        stating: set[str] = set()
        while (frontier := search.frontier) and len(search.visited) < MAX_VISITED:
            rows = self._connection.execute(
                level_query("propagation/origins_level", BACKWARD), {**start, **level_parameters(frontier)}
            ).fetchall()
            stating |= {row[0] for row in rows if row[4]}
            search.expand(Neighbour(asset_id, via, hops, content=content) for asset_id, via, hops, content, _ in rows)
        return stating & search.visited.keys()
