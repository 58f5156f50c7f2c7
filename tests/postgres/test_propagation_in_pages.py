"""A large run of propagation is done in pages, each in a transaction of its own: the end is that of one that is not,
whatever happens to the graph and to the process between two pages."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from lily.lineage.marks import AssetMark, Marks
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.propagation.propagator import Propagator, TenantPropagation
from tests.integration.test_propagation_stateful import Lineage
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

NODES, PAGE, DEATHS = 100, 2, 2
_LEFT = "select (select count(*) from propagation_runs), (select count(*) from propagation_pages)"


@pytest.fixture
def paged(
    migrated: Migrated, owner: psycopg.Connection, make_world: Callable[[], World]
) -> Iterator[Callable[[int], World]]:
    """A new tenant whose propagation has pages of this size."""
    url = migrated.url_of("lily_pipeline")
    opened: list[Propagator] = []

    def make(page: int) -> World:
        opened.append(Propagator(url, page))
        return World(make_world().tenant, writer, opened[-1], owner)

    with closing(CatalogueWriter(url)) as writer:
        yield make
    for propagator in opened:
        propagator.close()


@pytest.mark.parametrize("page", [1, 3])
def test_runs_in_pages_equal_a_recomputation(
    page: int, paged: Callable[[int], World], owner: psycopg.Connection
) -> None:
    run_state_machine_as_test(
        lambda: Lineage(paged(page)),  # type: ignore[arg-type]  # a factory serves as well, says hypothesis
        settings=settings(
            max_examples=4, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
    assert owner.execute(_LEFT).fetchone() == (0, 0)


@pytest.mark.parametrize("page", [1, 2, 100])
def test_what_comes_into_the_graph_in_the_first_page_has_what_it_inherits(
    page: int, paged: Callable[[int], World]
) -> None:
    """A table with much after it moves from a schema with the tag into another one, which nothing had led to before."""
    world = paged(page)
    world.define("pii")
    for database in ("old", "new"):
        world.typed("database", database, tags=["pii"])
        world.typed("schema", f"{database}.crm", parent=database)
    world.asset("people", parent="old.crm")
    for number, start in enumerate(("people", "n0", "n1", "n2", "n3")):
        world.edge(start, f"n{number}")
    world.settle()
    world.asset("people", parent="new.crm")
    world.settle()
    assert world.stored() == world.recomputed()
    names = {world.id_of(name) for name in ("new.crm", "people", "n0", "n4")}
    assert names <= {one.asset for one in world.stored()}


def test_a_run_in_pages_is_repeated_in_one_transaction_as_events_that_fail_are(
    make_world: Callable[[], World], migrated: Migrated
) -> None:
    world = make_world()
    world.define("pii")
    world.asset("start", tags=["pii"])
    for number, before in enumerate(("start", "n0", "n1")):
        world.edge(before, f"n{number}")
    marks, world.marks = world.marks, Marks()
    gone = Marks(assets=[AssetMark(world.id_of("start"))])
    with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        propagation = TenantPropagation(connection)
        with connection.transaction():
            for _ in range(2):
                propagation.run(world.tenant, marks)
        assert world.stored() == world.recomputed() != set()
        world.asset("start", tags=[])
        with connection.transaction():
            while not propagation.run(world.tenant, gone, 1).finished:
                pass
    assert world.stored() == world.recomputed() == set()


def test_a_run_that_is_killed_between_its_pages_comes_to_the_same_end(
    paged: Callable[[int], World], migrated: Migrated, owner: psycopg.Connection
) -> None:
    """Each asset has two before it, so that what loses one way keeps the other, and some a circle; there and back."""
    world, url = paged(PAGE), migrated.url_of("lily_pipeline")
    world.define("pii")
    world.asset("start")
    for number in range(NODES):
        world.asset(f"n{number}", parent=None if number % 5 or not number else f"n{number - 1}")
        for before in range(max(number - 2, 0), number):
            world.edge(f"n{before}", f"n{number}")
    world.edge("start", "n0")
    world.edge(f"n{NODES - 1}", "n1")
    world.settle()
    for tags, others in (["pii"], "n7"), ([], "n9"):
        world.asset("start", tags=tags)
        start, world.marks = world.marks, Marks()
        for _ in range(DEATHS):
            _kill_in_the_midst(owner, url, world.tenant, start)
        world.asset(others, tags=["pii"] if others == "n9" else [])
        world.marks.assets += start.assets
        world.settle()
        assert world.stored() == world.recomputed()
        assert world.unexplained() == []
        assert len(world.derived()) >= (NODES if tags else 1)
    assert owner.execute(_LEFT).fetchone() == (0, 0)


def _kill_in_the_midst(owner: psycopg.Connection, url: str, tenant: str, marks: Marks) -> None:
    """Kills a process that propagates, after some more of its pages."""
    pages = "select coalesce(max(number), 0) from propagation_pages where tenant_id = %s"
    (before,) = owner.execute(pages, [tenant]).fetchone() or (0,)
    process = multiprocessing.get_context("spawn").Process(
        target=_propagate, args=(url, tenant, [mark.asset_id for mark in marks.assets])
    )
    process.start()
    try:
        deadline = time.monotonic() + 30
        while (owner.execute(pages, [tenant]).fetchone() or (0,))[0] < before + 3:
            assert process.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.001)
    finally:
        process.kill()
        process.join()
    assert (owner.execute(_LEFT).fetchone() or (0,))[0] == 1


def _propagate(url: str, tenant: str, ids: list[str]) -> None:
    with closing(Propagator(url, PAGE)) as propagator:
        propagator.propagate(tenant, Marks(assets=[AssetMark(asset_id) for asset_id in ids]))
