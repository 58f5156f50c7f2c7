"""The other sides of propagation: the same assets reached and stored by hand, in the same PostgreSQL.

`recursive` is the least that PostgreSQL can do: one recursive query along live edges that let tags pass, inserted into
a table like the one of derived tags, indexes included. It knows neither by which way nor how far a tag came, so it
cannot tell why an asset has it, nor take it away again. `insert_each` is what a plain service does: the graph in
memory (built ahead), networkx finds what lies downstream, one INSERT and one commit an asset.
"""

import time
from collections.abc import Sequence

import networkx as nx  # type: ignore[import-untyped]
import psycopg

from bench.graphs import Link
from bench.tenants import BenchTenant

_TABLE = "create schema if not exists bench; create table bench.derived (like derived_tags including all)"
_DROP = "drop schema if exists bench cascade"
_RECURSIVE = """
insert into bench.derived (tenant_id, tag, asset_id, kind, via, depth, steps, root)
with recursive reached (id) as (
  select %(root)s::uuid
  union
  select e.to_id from reached r join edges e on e.from_id = r.id and e.tenant_id = %(tenant)s
  where not e.is_deleted and e.propagates and not e.masking
)
select %(tenant)s, 'pii', id, 'propagated', %(root)s, 1, 1, %(root)s from reached where id <> %(root)s
"""
_INSERT = """
insert into bench.derived (tenant_id, tag, asset_id, kind, via, depth, steps, root)
values (%s, 'pii', %s, 'propagated', %s, 1, 1, %s)
"""


class BareReach:
    """Rates are rows stored a second; the table is new each time."""

    def __init__(self, tenant: BenchTenant) -> None:
        self._tenant = tenant
        url = tenant.stack.database_url
        self._session = psycopg.connect(url, autocommit=True, application_name="bench-bare")
        self._session.execute("set work_mem = '64MB'; set jit = off")  # as the propagator's connection has it

    def close(self) -> None:
        self._session.execute(_DROP)
        self._session.close()

    def recursive(self, root: str) -> tuple[int, float]:
        """How many rows, and how many a second."""
        self._renew()
        asked = {"root": self._tenant.id(root), "tenant": self._tenant.name}
        began = time.perf_counter()
        rows = self._session.execute(_RECURSIVE, asked).rowcount
        return rows, rows / (time.perf_counter() - began)

    def insert_each(self, graph: "nx.DiGraph", root: str) -> tuple[int, float]:
        self._renew()
        of, source = self._tenant.name, self._tenant.id(root)
        began = time.perf_counter()
        reached = nx.descendants(graph, source)
        for asset in reached:
            self._session.execute(_INSERT, [of, asset, source, source], prepare=True)
        return len(reached), len(reached) / (time.perf_counter() - began)

    def _renew(self) -> None:
        self._session.execute(_DROP)
        self._session.execute(_TABLE)


def graph_of(tenant: BenchTenant, links: Sequence[Link]) -> "nx.DiGraph":
    graph = nx.DiGraph()
    graph.add_edges_from((tenant.id(start), tenant.id(end)) for start, end in links)
    return graph
