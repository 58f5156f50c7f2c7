"""Reads edges as they are stored, each with the protective tags that pass it."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, LiteralString

from psycopg import sql

from lily.lineage.edge_protection import EdgeState
from lily.model.edges import EdgeKey, EdgeLayer
from lily.model.layers import Layer
from lily.store.postgres.queries import query

# Whether a deleted asset cuts propagation. The pipeline reads all tenants, the API only its own tenant's setting.
CUT_OF_ANY_TENANT: LiteralString = "(select t.on_delete = 'cut' from tenants t where t.id = a.tenant_id)"
CUT_OF_OWN_TENANT: LiteralString = "(select s.on_delete = 'cut' from tenant_settings() s)"

TenantEdge = tuple[str, EdgeKey]


@cache
def edge_states_query(cut: LiteralString) -> sql.Composed:
    return sql.SQL(query("protection/edge_states")).format(cut=sql.SQL(cut))


def edge_parameters(edges: Sequence[TenantEdge]) -> dict[str, Any]:
    """The edges as numbered parameters. The rows name an edge by its number."""
    return {
        "numbers": list(range(len(edges))),
        "tenants": [tenant for tenant, _ in edges],
        "froms": [key.from_id for _, key in edges],
        "tos": [key.to_id for _, key in edges],
        "types": [key.type for _, key in edges],
    }


def edge_states(edges: Sequence[TenantEdge], rows: Sequence[Sequence[Any]]) -> Iterator[tuple[TenantEdge, EdgeState]]:
    """The rows of a query that was given these edges as parameters."""
    return ((edges[number], _state(*columns)) for number, *columns in rows)


def _state(*columns: Any) -> EdgeState:
    layers: dict[EdgeLayer, Layer] = {}
    if columns[0] is not None:
        layers["source"] = Layer(*columns[:3])
    if columns[3] is not None:
        layers["user"] = Layer(*columns[3:6])
    return EdgeState(layers, *columns[6:])
