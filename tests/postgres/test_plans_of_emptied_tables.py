"""New lineage in tables that were emptied before: statistics say that they have pages and no rows, so every index looks
as good as the key. Each node and asset is still looked up by its id."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import cast

import psycopg
import pytest

from lily.embedded.bootstrap import url_for_role
from lily.lineage.lake_nodes import LakeNode
from lily.lineage.marks import AssetMark, Marks
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.migrations import migrate
from lily.store.postgres.outbox.batches import Outbox
from lily.store.postgres.propagation.propagator import Propagator, TenantPropagation
from tests.lineage_world import World
from tests.postgres.migrated import PASSWORDS, Migrated
from tests.postgres_server import Server

EMPTIED = ("assets", "edges", "graph_nodes")
COLUMNS = 200
MOST = 20 * COLUMNS  # reading all of them for each would be 80,000 and more
_RELATIONS = """
select relname, relkind = 'r' from pg_class
where relnamespace = 'public'::regnamespace
  and (relname = any (%(tables)s)
       or oid in (select indexrelid from pg_index where indrelid = any (%(tables)s::regclass[])))
"""
_FORGET = """
select pg_restore_relation_stats(
  'schemaname', 'public', 'relname', %s::text, 'relpages', %s::integer, 'reltuples', 0::real)
"""
_EDGES = """
insert into edges (tenant_id, from_id, to_id, type, created_at, updated_at)
select 't', id, gen_random_uuid(), 'derived-from', now(), now() from unnest(%s::uuid[]) as a (id)
"""
_ENTRIES = """
select sum(idx_tup_read), sum(idx_scan) filter (where indexrelname = 'assets_pkey')
from pg_stat_user_indexes where relname = 'assets'
"""
_READ = "select coalesce(sum(pg_stat_get_xact_tuples_returned(oid)), 0) from pg_class where relname = any (%s)"


@pytest.fixture
def columns(make_world: Callable[[], World], migrated: Migrated) -> World:
    """Columns of the lake with lineage, whose tables PostgreSQL has."""
    world = make_world()
    world.define("pii")
    for number in range(COLUMNS):
        world.asset(f"shop.old{number}")
        world.asset(f"shop.new{number}")
        world.edge(f"shop.old{number}.c", f"shop.new{number}.c")
    world.settle()
    nodes = {
        (world.tenant, world.id_of(f"shop.{table}{number}.c")): LakeNode(
            world.id_of(f"shop.{table}{number}"), f"shop.{table}{number}.c", "c", "column"
        )
        for table in ("old", "new")
        for number in range(COLUMNS)
    }
    with closing(Propagator(migrated.url_of("lily_pipeline"))) as propagator:
        propagator.set_parents(nodes)
    return world


@pytest.fixture
def emptied(columns: World, owner: psycopg.Connection) -> Iterator[World]:
    """The columns as after `vacuum analyze` of emptied tables whose files were in use and could not be cut off."""
    for name, is_table in owner.execute(_RELATIONS, {"tables": list(EMPTIED)}).fetchall():
        owner.execute(_FORGET, [name, 100 if is_table else 1])
    yield columns
    owner.execute("analyze assets, edges, graph_nodes")


def test_columns_that_have_got_a_parent_do_not_read_all_nodes_that_have_one(emptied: World, migrated: Migrated) -> None:
    ids = [emptied.id_of(f"shop.new{number}.c") for number in range(COLUMNS)]
    with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        propagation = TenantPropagation(connection)
        with connection.transaction():
            propagation.run(emptied.tenant, Marks(assets=[AssetMark(asset_id, placed=True) for asset_id in ids]))
            assert _read(connection, "graph_children", "graph_nodes_pkey") <= MOST
            assert _read(connection, "assets_by_name_in_any_case", "assets_by_type", "assets_pkey") <= MOST


@pytest.mark.parametrize("some", ["columns", "emptied"])
def test_a_few_assets_that_changed_do_not_read_the_whole_graph(
    some: str, request: pytest.FixtureRequest, migrated: Migrated
) -> None:
    world: World = request.getfixturevalue(some)
    world.asset("shop.loose")  # not in the graph, so its edges are looked for
    changed = [AssetMark(world.id_of(name)) for name in ("shop.loose", "shop.new0", "shop.new1")]
    with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        propagation = TenantPropagation(connection)
        with connection.transaction():
            propagation.run(world.tenant, Marks(assets=changed))
            assert _read(connection, "edges", "edges_pkey", "edges_into") < COLUMNS / 4
            assert _read(connection, "graph_nodes", "graph_nodes_pkey", "graph_children") < COLUMNS / 4


def test_the_merge_looks_assets_up_although_it_planned_for_an_empty_catalogue(migrated: Migrated) -> None:
    database = Server(migrated.owner).create_database()
    migrate(database, PASSWORDS)
    create_tenant(database, "t")
    url = url_for_role(database, "lily_pipeline", PASSWORDS["lily_pipeline"])
    with closing(CatalogueWriter(url)) as store, psycopg.connect(database, autocommit=True) as owner:
        owner.execute("alter table assets set (autovacuum_enabled = false)")
        world = World("t", store, cast("Propagator", None), owner)
        for number in range(12):  # prepared after five, and with one plan for all after ten
            world.asset("shop.first", description=str(number))
        owner.execute("delete from assets")
        owner.execute("vacuum analyze assets")  # plans are made anew, of a table without a page
        for number in range(COLUMNS):
            world.asset(f"shop.table{number}")
        with psycopg.connect(database, autocommit=True) as reader:
            store._connection.execute("select pg_stat_force_next_flush()")
            store._connection.execute("select 1")
            read, looked_up = reader.execute(_ENTRIES).fetchone() or (0, 0)
        assert looked_up >= COLUMNS  # by the key
        assert read <= MOST


def test_the_relay_looks_up_assets_although_it_planned_for_an_empty_graph(migrated: Migrated) -> None:
    database = Server(migrated.owner).create_database()
    migrate(database, PASSWORDS)
    assets = [("t", str(uuid.uuid4())) for _ in range(COLUMNS)]
    url = url_for_role(database, "lily_pipeline", PASSWORDS["lily_pipeline"])
    with closing(Outbox(url)) as outbox, psycopg.connect(database, autocommit=True) as owner:
        owner.execute("alter table edges set (autovacuum_enabled = false)")
        before = _scans_of_edges(owner)
        for _ in range(12):  # prepared after five, and with one plan for all after ten
            outbox.in_graph(assets)
        owner.execute(_EDGES, [[asset_id for _, asset_id in assets]])
        assert len(outbox.in_graph(assets)) == len(assets)
        outbox.close()
        assert _scans_of_edges(owner) == before


def _scans_of_edges(owner: psycopg.Connection) -> int:
    """How often the whole table of edges was read, by sessions that have ended."""
    owner.execute("select pg_stat_force_next_flush(), pg_stat_clear_snapshot()")
    row = owner.execute("select pg_stat_get_numscans('edges'::regclass)").fetchone()
    assert row is not None
    return int(row[0])


def _read(connection: psycopg.Connection, *relations: str) -> int:
    """Rows that this transaction read from the relations: of a table by scanning it whole."""
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        row = cursor.execute(_READ, [list(relations)]).fetchone()
    assert row is not None
    return int(row[0])
