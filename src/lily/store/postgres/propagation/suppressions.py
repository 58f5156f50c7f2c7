"""Reports origins that reach an asset after a person suppressed the tag there: the reason given then may not hold for
them."""

from typing import Any, NamedTuple

import psycopg

from lily.lineage.breadth_first import BreadthFirstSearch, Neighbour
from lily.store.postgres.copying import id_array
from lily.store.postgres.propagation.levels import backwards
from lily.store.postgres.queries import query

MOST_LOOKED_AT = 200  # suppressions of a tenant that one run looks at
MOST_VISITED = 20_000  # assets on the way back to the origins of one


class NewOrigin(NamedTuple):
    tag: str
    origin: str
    asset_id: str


class Suppressions:
    """Works within the caller's transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def new_origins(self, tenant: str) -> list[NewOrigin]:
        """Notes and answers those that were not known before."""
        self._connection.execute(query("propagation/new_origins_forget"), {"tenant": tenant})
        asked = {"tenant": tenant, "limit": MOST_LOOKED_AT}
        found: list[NewOrigin] = []
        for asset_id, parent, tag, depth, cut, known in self._connection.execute(
            query("propagation/suppressions"), asked
        ).fetchall():
            walk = {"tenant": tenant, "tag": tag, "start": asset_id, "parent": parent, "cut": cut}
            unknown = sorted(self._origins(walk, depth) - set(known) - {asset_id})
            if unknown:
                told = {"tenant": tenant, "asset": asset_id, "tag": tag, "origins": unknown}
                rows = self._connection.execute(query("propagation/new_origins_note"), told).fetchall()
                found += [NewOrigin(tag, origin, asset_id) for (origin,) in rows]
        return found

    def publish(self, tenant: str, batch: int, found: list[NewOrigin]) -> None:
        told = {
            "tenant": tenant,
            "batch": batch,
            "tags": [one.tag for one in found],
            "origins": [one.origin for one in found],
            "assets": [one.asset_id for one in found],
        }
        self._connection.execute(query("propagation/new_origins_publish"), told)

    def _origins(self, walk: dict[str, Any], max_depth: int | None) -> set[str]:
        reach = BreadthFirstSearch(walk["start"], max_depth)
        stating: set[str] = set()
        while (frontier := reach.frontier) and len(reach.visited) < MOST_VISITED:
            asked = {**walk, "ids": id_array(frontier)}
            rows = self._connection.execute(backwards(), asked).fetchall()
            stating |= {row[0] for row in rows if row[3]}
            reach.expand(Neighbour(asset_id, via, hops) for asset_id, via, hops, _ in rows)
        return stating & reach.visited.keys()
