"""Graphs for the measurements of lineage, put into the catalogue by COPY: loading them is not what is measured.

Assets are known by name; their ids follow. What the pipeline would have come to hold of them is written as it would
have: the assets, the edges as a source states them, and the ends of edges with their parents.
"""

import random
from collections.abc import Iterable, Iterator

import orjson

from bench.tenants import BenchTenant
from lily.model import clock, ids
from lily.model.ids import asset_id

FAN_OUT = 10
CROSS = 10  # one edge across the tree for so many of its own
TYPE = "derived-from"
AT_ONCE = 10_000  # rows handed to COPY at a time

Link = tuple[str, str]

_ASSETS = "copy assets (tenant_id, id, qualified_name, source, source_at, created_at, updated_at) from stdin"
_EDGES = "copy edges (tenant_id, from_id, to_id, type, source, source_at, created_at, updated_at) from stdin"
_NODES = "copy graph_nodes (tenant_id, id, parent) from stdin"
_TAG = (
    """update assets set source = source || '{"tags": {"pii": "PII"}}' where tenant_id = %s and id = any(%s::uuid[])"""
)
_UNTAG = "update assets set source = source - 'tags' where tenant_id = %s and id = any(%s::uuid[])"


def tree(prefix: str, count: int) -> tuple[list[str], list[Link]]:
    """A root and so many below it, ten to each, with some edges across. The root's name is the first."""
    names = [f"{prefix}.t{number}" for number in range(count + 1)]
    links = {(names[(number - 1) // FAN_OUT], names[number]) for number in range(1, count + 1)}
    chance = random.Random(count)
    while len(links) < count + count // CROSS:
        start, end = sorted(chance.sample(range(1, count + 1), 2))
        links.add((names[start], names[end]))
    return names, sorted(links)


def layers(prefix: str, count: int, depth: int, fan_in: int) -> tuple[list[str], list[Link]]:
    """A dataset and so many downstream of it, in so many layers, each derived from some of the layer above."""
    chance, above = random.Random(count), [f"{prefix}.start"]
    names, links = list(above), []
    for layer in range(depth):
        here = [f"{prefix}.l{layer}_{number}" for number in range(count // depth)]
        links += [(start, end) for end in here for start in chance.sample(above, min(fan_in, len(above)))]
        names, above = names + here, here
    return names, links


def load(tenant: BenchTenant, names: Iterable[str], links: Iterable[Link], *, in_graph: bool = True) -> None:
    """Tables and edges between them. Names may be read once only. `in_graph`: the names are ends of edges by now."""
    listed = list(names)
    _copy(tenant, _ASSETS, _asset_rows(tenant.name, listed))
    if in_graph:
        _copy(tenant, _NODES, (f"{tenant.name}\t{asset_id(tenant.name, name)}\t\\N\n" for name in listed))
    link(tenant, links)
    tenant.stack.database.execute("vacuum analyze assets, edges, graph_nodes")


def link(tenant: BenchTenant, links: Iterable[Link]) -> None:
    """Edges alone."""
    of, (at, now) = tenant.name, _made()
    _copy(
        tenant,
        _EDGES,
        (
            f'{of}\t{asset_id(of, start)}\t{asset_id(of, end)}\t{TYPE}\t{{"$deleted": false}}\t{at}\t{now}\t{now}\n'
            for start, end in links
        ),
    )


def place(tenant: BenchTenant, parents: Iterable[tuple[str, str]]) -> None:
    """Columns that have edges, below their tables."""
    of = tenant.name
    rows = (f"{of}\t{asset_id(of, name)}\t{asset_id(of, parent)}\n" for name, parent in parents)
    _copy(tenant, _NODES, rows)


def tag(tenant: BenchTenant, names: Iterable[str]) -> None:
    """The source says PII; nobody is told."""
    tenant.stack.database.execute(_TAG, [tenant.name, [tenant.id(name) for name in names]])


def untag(tenant: BenchTenant, names: Iterable[str]) -> None:
    tenant.stack.database.execute(_UNTAG, [tenant.name, [tenant.id(name) for name in names]])


def _asset_rows(of: str, names: list[str]) -> Iterator[str]:
    at, now = _made()
    for name in names:
        source = orjson.dumps({"$type": "table", "name": name.rpartition(".")[2], "owner": "alice"}).decode()
        yield f"{of}\t{asset_id(of, name)}\t{name}\t{source}\t{at}\t{now}\t{now}\n"


def _made() -> tuple[str, str]:
    """A clock, and its time."""
    now = clock.now()
    return clock.clock(now, ids.event_id()), now


def _copy(tenant: BenchTenant, command: str, rows: Iterable[str]) -> None:
    with tenant.stack.database.cursor().copy(command.encode()) as copy:
        waiting: list[str] = []
        for row in rows:
            waiting.append(row)
            if len(waiting) == AT_ONCE:
                copy.write("".join(waiting))
                waiting.clear()
        copy.write("".join(waiting))
