"""Reads single edges for the API."""

from collections.abc import Sequence
from typing import Any

from lily.lineage.edge_state import Conduction, EdgeClaims, EdgeState
from lily.model.edges import EDGE_LAYERS, EdgeKey
from lily.model.layers import Layer
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def read_edges(database: Database, tenant: str, keys: Sequence[EdgeKey]) -> dict[EdgeKey, EdgeState]:
    """Those of the edges that were ever stated."""
    if not keys:
        return {}
    parameters = {
        "numbers": list(range(len(keys))),
        "froms": [key.from_id for key in keys],
        "tos": [key.to_id for key in keys],
        "types": [key.type for key in keys],
    }
    rows = await database.fetch(tenant, query("edges/by_key"), parameters)
    return {keys[number]: _state(*columns) for number, *columns in rows}


def _state(*columns: Any) -> EdgeState:
    stored = zip(EDGE_LAYERS, (columns[:3], columns[3:6]), strict=True)
    claimed, mask, mask_by_authority, held = columns[6:]
    layers = {name: Layer(*layer) for name, layer in stored if layer[0] is not None}
    return EdgeState(layers, EdgeClaims(claimed, mask, mask_by_authority, Conduction(held)))
