"""Columns get their parents from the lake: a run of propagation is about those that may gain or lose a tag by it."""

from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from lily.lineage.lake_nodes import LakeNode
from lily.store.postgres.propagation.propagator import Propagator, TenantPropagation
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

SCHEMA, TABLE, COLUMN, REPORT = "shop.crm", "shop.crm.people", "shop.crm.people.email", "reports.mail"


@pytest.fixture
def lake(migrated: Migrated) -> Iterator[Propagator]:
    with closing(Propagator(migrated.url_of("lily_pipeline"))) as found:
        yield found


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    """A column of the lake from which a report is derived. PostgreSQL has the table, which is on no edge."""
    world = make_world()
    world.define("pii")
    world.typed("schema", SCHEMA)
    world.asset(TABLE, parent=SCHEMA)
    world.asset(REPORT)
    world.edge(COLUMN, REPORT)
    world.settle()
    return world


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The assets that each run is about."""
    found: list[set[str]] = []
    run = TenantPropagation.run

    def spy(self: TenantPropagation, tenant: str, marks: object, *more: object) -> object:
        found.append({mark.asset_id for mark in marks.assets})  # type: ignore[attr-defined]
        return run(self, tenant, marks, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(TenantPropagation, "run", spy)
    return found


def place(lake: Propagator, world: World, parent: str = TABLE, held: str | None = None) -> None:
    others = frozenset({world.id_of(held)} if held else ())
    node = LakeNode(world.id_of(parent), COLUMN, "email", "column", held_parents=others)
    lake.set_parents({(world.tenant, world.id_of(COLUMN)): node})


def tagged(owner: psycopg.Connection, world: World) -> set[str]:
    rows = owner.execute("select asset_id::text from derived_tags where tenant_id = %s", [world.tenant]).fetchall()
    names = {world.id_of(name): name for name in (SCHEMA, TABLE, COLUMN, REPORT)}
    return {names[asset_id] for (asset_id,) in rows}


def test_a_tag_of_the_table_reaches_it(lake: Propagator, world: World, owner: psycopg.Connection) -> None:
    world.asset(TABLE, parent=SCHEMA, tags=["pii"])
    world.edge(TABLE, REPORT, "used-in")  # the table is in the graph already
    world.settle()
    place(lake, world)
    assert tagged(owner, world) == {COLUMN, REPORT}


def test_a_tag_that_the_table_inherits_reaches_it(lake: Propagator, world: World, owner: psycopg.Connection) -> None:
    world.edge(TABLE, REPORT, "influences")
    world.typed("schema", SCHEMA, tags=["pii"])
    world.settle()
    assert tagged(owner, world) == {TABLE}
    place(lake, world)
    assert tagged(owner, world) == {TABLE, COLUMN, REPORT}


def test_a_tag_far_above_a_table_that_is_not_in_the_graph_reaches_it(
    lake: Propagator, world: World, owner: psycopg.Connection
) -> None:
    world.typed("schema", SCHEMA, tags=["pii"])
    world.settle()
    place(lake, world)
    assert tagged(owner, world) == {TABLE, COLUMN, REPORT}


def test_what_it_had_from_its_table_goes_when_it_is_moved(
    lake: Propagator, world: World, owner: psycopg.Connection
) -> None:
    world.asset(TABLE, parent=SCHEMA, tags=["pii"])
    world.asset("shop.crm.plain")
    world.edge("shop.crm.plain", REPORT, "influences")
    world.settle()
    place(lake, world)
    assert tagged(owner, world) == {COLUMN, REPORT}
    place(lake, world, "shop.crm.plain")
    assert tagged(owner, world) == set()


def test_a_parent_that_is_held_still_passes_its_tags_down(
    lake: Propagator, world: World, owner: psycopg.Connection
) -> None:
    world.asset(TABLE, parent=SCHEMA, tags=["pii"])
    world.asset("shop.crm.plain")
    world.edge("shop.crm.plain", REPORT, "influences")
    world.settle()
    place(lake, world, "shop.crm.plain", held=TABLE)
    assert tagged(owner, world) == {COLUMN, REPORT}
    place(lake, world, "shop.crm.plain")
    assert tagged(owner, world) == set()


def test_a_column_that_postgresql_has_by_now_inherits_from_the_parent_that_it_has_there(
    lake: Propagator, world: World, owner: psycopg.Connection
) -> None:
    world.asset(TABLE, parent=SCHEMA, tags=["pii"])
    world.column(COLUMN, TABLE)
    place(lake, world)
    assert tagged(owner, world) == {COLUMN, REPORT}


def test_without_a_tag_near_it_nothing_is_propagated(
    lake: Propagator, world: World, runs: list[set[str]], owner: psycopg.Connection
) -> None:
    world.edge(TABLE, REPORT, "used-in")
    world.settle()
    runs.clear()
    place(lake, world)
    assert runs == []
    world.asset(TABLE, parent=SCHEMA, tags=["pii"])
    world.settle()
    assert tagged(owner, world) == {COLUMN, REPORT}, "it is below its table all the same"


def test_a_tag_of_another_table_is_not_near(lake: Propagator, world: World, runs: list[set[str]]) -> None:
    world.edge(TABLE, REPORT, "used-in")
    world.asset("shop.crm.other", tags=["pii"])
    world.edge("shop.crm.other", "reports.other")
    world.settle()
    runs.clear()
    place(lake, world)
    assert runs == []
