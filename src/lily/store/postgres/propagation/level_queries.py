"""Queries for one level of a search along the edges that a tag passes: forward, or back to its origins."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from psycopg import sql

from lily.lineage.breadth_first import Place
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query


class Way(NamedTuple):
    """The columns of an edge from which and to which a search goes along a tag that propagates downstream."""

    here: str
    there: str


FORWARD, BACKWARD = Way("from_id", "to_id"), Way("to_id", "from_id")


@cache
def level_query(name: str, way: Way) -> sql.Composed:
    """The query of that name, with the neighbours of its assets in that direction."""
    edge_neighbours = sql.SQL(query("propagation/edge_neighbours")).format(
        here=sql.Identifier(way.here), there=sql.Identifier(way.there)
    )
    return sql.SQL(query(name)).format(edge_neighbours=edge_neighbours)


def level_parameters(frontier: Sequence[Place]) -> dict[str, Any]:
    """The parameters of a frontier."""
    return {"ids": id_array(place.asset for place in frontier), "contents": [place.content for place in frontier]}
