"""New edges between columns that only the lake has: each is looked up by its id, whatever the statistics say."""

from collections.abc import Callable

import psycopg

from lily.store.postgres.propagation.propagator import TenantPropagation
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

SCANS = "select pg_stat_get_xact_numscans('graph_awaiting_lake_of_tenant'::regclass)"


def test_new_edges_without_tags_do_not_read_all_nodes_that_await_the_lake(
    make_world: Callable[[], World], owner: psycopg.Connection, migrated: Migrated
) -> None:
    world = make_world()
    world.define("pii")
    for number in range(200):
        world.edge(f"shop.old.c{number}", f"shop.new.c{number}")
    world.settle()
    # Statistics of a moment in which no node awaits the lake: the index of those that do is taken to be empty.
    owner.execute("update graph_nodes set awaits_lake = false")
    owner.execute("vacuum analyze graph_nodes")
    for number in range(200):
        world.edge(f"shop.new.c{number}", f"shop.mart.c{number}")
    with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        propagation = TenantPropagation(connection)
        with connection.transaction():
            propagation.run(world.tenant, world.marks)
            assert connection.execute(SCANS).fetchone() == (0,)
