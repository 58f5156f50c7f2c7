"""What the lake query does in PostgreSQL between two batches: it loses nothing when it dies, no tenant's failure delays
another, and it ends however much there is to do."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, cast

import psycopg
import pytest

from lily.lineage.lake_nodes import LakeNode
from lily.pipeline.lake import promotion
from lily.pipeline.lake.lookups import Asset, LakeLookups
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.propagation import propagator as propagation
from lily.store.postgres.propagation.propagator import Propagator, TenantPropagation
from lily.store.postgres.tenant_lock import tenant_lock
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

COLUMN, TABLE, REPORT = "shop.people.email", "shop.people", "reports.mail"


@pytest.fixture
def lake(migrated: Migrated) -> Iterator[Propagator]:
    with closing(Propagator(migrated.url_of("lily_pipeline"))) as found:
        yield found


def reports_on_a_column_of_the_lake(world: World) -> Asset:
    """A column that PostgreSQL does not have, of a table with PII, and a report from it."""
    world.define("pii")
    world.asset(TABLE, tags=["pii"])
    world.asset(REPORT)
    world.edge(COLUMN, REPORT)
    world.settle()
    return world.tenant, world.id_of(COLUMN)


def node(world: World) -> LakeNode:
    return LakeNode(world.id_of(TABLE), COLUMN, "email", "column")


def derived(owner: psycopg.Connection, world: World) -> set[str]:
    rows = owner.execute("select asset_id::text from derived_tags where tenant_id = %s", [world.tenant]).fetchall()
    return {asset_id for (asset_id,) in rows}


def test_a_process_that_dies_before_tags_are_propagated_looks_the_column_up_again(
    make_world: Callable[[], World],
    migrated: Migrated,
    owner: psycopg.Connection,
    lake: Propagator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = make_world()
    column = reports_on_a_column_of_the_lake(world)
    assert column in lake.awaiting_lake(100_000)

    def die(*_: object) -> None:
        raise SystemExit("killed")

    with monkeypatch.context() as killed:
        killed.setattr(TenantPropagation, "run", die)
        with pytest.raises(SystemExit):
            lake.set_parents({column: node(world)})
    with closing(Propagator(migrated.url_of("lily_pipeline"))) as successor:
        assert column in successor.awaiting_lake(100_000)
        successor.set_parents({column: node(world)})
    assert derived(owner, world) == {world.id_of(COLUMN), world.id_of(REPORT)}


def test_a_tenant_whose_run_fails_delays_no_other_and_is_tried_again(
    make_world: Callable[[], World], owner: psycopg.Connection, lake: Propagator
) -> None:
    worlds = [make_world() for _ in range(3)]
    columns = [reports_on_a_column_of_the_lake(world) for world in worlds]
    sick, *well = worlds
    owner.execute(
        "create or replace function refuse() returns trigger language plpgsql as "
        "$$ begin raise exception 'no space left' using errcode = '53100'; end $$"
    )
    owner.execute(
        "create trigger refused before insert on derived_tags for each row "
        f"when (new.tenant_id = '{sick.tenant}') execute function refuse()".encode()
    )
    try:
        lake.set_parents({column: node(world) for column, world in zip(columns, worlds, strict=True)})
    finally:
        owner.execute("drop trigger refused on derived_tags")
    for world in well:
        assert derived(owner, world) == {world.id_of(COLUMN), world.id_of(REPORT)}
    assert derived(owner, sick) == set()
    assert columns[0] not in lake.awaiting_lake(100_000)  # it waits, and leaves the place to others
    lake._pauses.succeeded(sick.tenant)
    assert columns[0] in lake.awaiting_lake(100_000)
    lake.set_parents({columns[0]: node(sick)})
    assert derived(owner, sick) == {sick.id_of(COLUMN), sick.id_of(REPORT)}


def test_a_tenant_with_a_long_run_in_a_worker_delays_no_other(
    make_world: Callable[[], World],
    migrated: Migrated,
    owner: psycopg.Connection,
    lake: Propagator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(propagation, "LOCK_TIMEOUT", "50ms")
    busy, other = make_world(), make_world()
    columns = {reports_on_a_column_of_the_lake(world): node(world) for world in (busy, other)}
    with (
        psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as worker,
        tenant_lock(worker, propagation.PROPAGATION, busy.tenant),
    ):
        lake.set_parents(columns)
    assert derived(owner, busy) == set()
    assert derived(owner, other) == {other.id_of(COLUMN), other.id_of(REPORT)}


class Flood:
    """A lake that has nothing. With each look-up, more tagged columns of a tenant arrive in PostgreSQL."""

    def __init__(self, world: World) -> None:
        self._world, self._arrived = world, 0

    def states(self, _: Iterable[Asset]) -> dict[Asset, Any]:
        for number in range(self._arrived + 1, self._arrived + 6):
            self._arrived = number
            assert self._arrived < 500, "promotion does not end while columns arrive"
            self._world.column(f"shop.flood.c{self._arrived:05d}", "shop.flood", tags=["pii"])
        return {}


def test_a_flood_of_tagged_columns_ends_neither_the_lake_nor_the_turn_of_other_tenants(
    make_world: Callable[[], World], migrated: Migrated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion, "ASSETS_AT_ONCE", 4)
    first, second = sorted((make_world(), make_world()), key=lambda world: world.tenant)
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as store:
        while waiting := store.awaiting_lake(1_000):
            store.promote([], waiting)  # of other tests
        flood = Flood(first)
        flood.states([])
        second.column("shop.quiet.c", "shop.quiet", tags=["pii"])
        promotion.promote(cast("LakeLookups", flood), store)
        assert {tenant for tenant, _ in store.awaiting_lake(1_000)} == {first.tenant}
        while waiting := store.awaiting_lake(1_000):
            store.promote([], waiting)
