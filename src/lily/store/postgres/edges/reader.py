"""Reads single edges for the API: their state, and the protective tags that pass them."""

from collections.abc import Sequence

from lily.lineage.edge_protection import EdgeState
from lily.model.edges import EdgeKey
from lily.store.postgres.protection.edge_states import (
    CUT_OF_OWN_TENANT,
    edge_parameters,
    edge_states,
    edge_states_query,
)
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Query


async def read_edges(database: Database, tenant: str, keys: Sequence[EdgeKey]) -> dict[EdgeKey, EdgeState]:
    """Those of the edges that were ever stated, without the tags that pass them."""
    return await _read(database, tenant, keys, query("edges/by_key"))


async def read_edges_with_tags(database: Database, tenant: str, keys: Sequence[EdgeKey]) -> dict[EdgeKey, EdgeState]:
    return await _read(database, tenant, keys, edge_states_query(CUT_OF_OWN_TENANT))


async def _read(database: Database, tenant: str, keys: Sequence[EdgeKey], statement: Query) -> dict[EdgeKey, EdgeState]:
    edges = [(tenant, key) for key in keys]
    rows = await database.fetch(tenant, statement, edge_parameters(edges)) if edges else []
    return {key: state for (_, key), state in edge_states(edges, rows)}
