"""A traversal of the graph finds what a plain search finds, however few rows it fetches at a time."""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.model.edges import EdgeEvent, EdgeKey, EdgeStatement
from lily.model.records import Record
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.graph import traversal
from lily.store.postgres.graph.traversal import GraphTraversal, TraversalDirection
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

ASSETS = [str(uuid.UUID(int=number)) for number in range(8)]
EDGES = st.tuples(st.sampled_from(ASSETS), st.sampled_from(ASSETS), st.sampled_from(["s", "t"]))
GRAPHS = st.sets(EDGES.filter(lambda edge: edge[0] != edge[1]), max_size=25)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as found:
        yield found


@pytest.fixture(scope="module")
def database(migrated: Migrated, runner: asyncio.Runner) -> Iterator[Database]:
    async def opened() -> Database:
        found = Database(migrated.url_of("lily_api"))
        await found.open()
        return found

    found = runner.run(opened())
    yield found
    runner.run(found.close())


@pytest.fixture(autouse=True)
def _little_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traversal, "FIRST_ROWS", (2, 2))
    monkeypatch.setattr(traversal, "MAX_ROWS", 5)
    monkeypatch.setattr(traversal, "WIDE_LEVEL", 3)


def relate(store: CatalogueWriter, tenant: str, graph: set[tuple[str, str, str]]) -> None:
    time = "2026-01-01T00:00:00.000000Z"
    events = [
        EdgeEvent(str(uuid.uuid4()), time, tenant, EdgeStatement("source", "upsert", EdgeKey(*edge), {}))
        for edge in graph
    ]
    store.apply("walk", {}, [(Record("walk", 0, 0, time, b"", b""), event) for event in events], [])


async def traversed(
    database: Database, tenant: str, direction: TraversalDirection, starts: list[str], depth: int
) -> list[tuple[int, str, str, str]]:
    chunks = GraphTraversal(database, tenant, direction, 2, skip_deleted=False).edges(starts, depth)
    return [(at, here, there, kind) async for at, rows in chunks for here, there, kind, *_ in rows]


def searched(
    graph: set[tuple[str, str, str]], direction: TraversalDirection, starts: list[str], depth: int
) -> list[tuple[int, str, str, str]]:
    """Every edge with the depth at which it is reached."""
    arcs = [(a, b, kind) if direction == "downstream" else (b, a, kind) for a, b, kind in graph]
    distance = dict.fromkeys(starts, 0)
    for at in range(len(ASSETS)):
        for here, there, _ in arcs:
            if distance.get(here) == at:
                distance.setdefault(there, at + 1)
    found = [(distance[here] + 1, here, there, kind) for here, there, kind in arcs if here in distance]
    return sorted(place for place in found if place[0] <= depth)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=GRAPHS, starts=st.sets(st.sampled_from(ASSETS), min_size=1, max_size=2), depth=st.integers(1, 9))
def test_a_traversal_yields_every_edge_once_and_in_order(  # noqa: PLR0917
    database: Database,
    runner: asyncio.Runner,
    make_world: Callable[[], World],
    graph: set[tuple[str, str, str]],
    starts: set[str],
    depth: int,
) -> None:
    world = make_world()
    relate(world.store, world.tenant, graph)
    directions: tuple[TraversalDirection, ...] = ("downstream", "upstream")
    for direction in directions:
        steps = runner.run(traversed(database, world.tenant, direction, sorted(starts), depth))
        assert steps == searched(graph, direction, sorted(starts), depth)


def test_a_long_chain_ends(
    database: Database,
    runner: asyncio.Runner,
    make_world: Callable[[], World],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traversal, "MAX_ROWS", 4_000)
    world = make_world()
    chain = [str(uuid.UUID(int=number)) for number in range(10_001)]
    relate(world.store, world.tenant, {(a, b, "t") for a, b in pairwise(chain)})
    steps = runner.run(traversed(database, world.tenant, "downstream", chain[:1], 10_000))
    assert [there for _, _, there, _ in steps] == chain[1:]
