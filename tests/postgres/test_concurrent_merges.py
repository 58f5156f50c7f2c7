"""Two transactions that merge into one asset or one edge: the second waits, and keeps what the first has written."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest

from lily.bus import topics
from lily.model.edges import EdgeEvent, EdgeKey, EdgeStatement
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

PATIENCE_SECONDS = 30.0
OLD, NEW = (f"2026-01-01T00:00:0{tick}.000000Z" for tick in (1, 2))
_RECORD = Record(topics.ASSETS, 0, 0, OLD, None, None)


@pytest.fixture
def writer(migrated: Migrated) -> Iterator[CatalogueWriter]:
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as found:
        yield found


@contextmanager
def held_open(migrated: Migrated, owner: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """A transaction that is not committed until another one waits for it."""
    with psycopg.connect(migrated.owner) as connection:
        yield connection
        deadline = time.monotonic() + PATIENCE_SECONDS
        waiting = "select count(*) from pg_stat_activity where %s = any (pg_blocking_pids(pid))"
        while owner.execute(waiting, [connection.info.backend_pid]).fetchone() == (0,):
            assert time.monotonic() < deadline, "nothing waits for the change"
            time.sleep(0.02)


@contextmanager
def held(migrated: Migrated, owner: psycopg.Connection, change: str, *values: object) -> Iterator[None]:
    """A change that is not committed until the other transaction waits for it."""
    with held_open(migrated, owner) as connection:
        connection.execute(change.encode(), values)
        yield


def begun(run: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def an_asset(tenant: str, event_id: str, at: str, **attributes: object) -> AssetEvent:
    data = {"layer": "user", "qualified_name": "db.t", "attributes": attributes}
    return AssetEvent(event_id, at, tenant, read_statement(data, tenant=tenant))


def test_a_late_statement_does_not_overwrite_what_another_transaction_merges_meanwhile(
    migrated: Migrated, owner: psycopg.Connection, writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    world = make_world()
    writer.apply("t", {}, [(_RECORD, an_asset(world.tenant, "e2", NEW, owner="ada"))], [])
    asset = (world.tenant, world.id_of("db.t"))
    change = 'update assets set "user" = "user" || \'{"zone": "eu"}\' where tenant_id = %s and id = %s'
    with held(migrated, owner, change, *asset):
        late = an_asset(world.tenant, "e1", OLD, description="late")
        thread = begun(lambda: writer.apply("t", {}, [(_RECORD, late)], []))
    thread.join(PATIENCE_SECONDS)
    row = owner.execute('select "user" from assets where tenant_id = %s and id = %s', asset).fetchone()
    assert row == ({"owner": "ada", "zone": "eu", "description": "late"},)


def test_a_late_statement_about_an_edge_does_not_overwrite_another_either(
    migrated: Migrated, owner: psycopg.Connection, writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    world = make_world()
    key = EdgeKey(world.id_of("a"), world.id_of("b"), "derived-from")

    def state(event_id: str, at: str, **flags: bool | None) -> None:
        event = EdgeEvent(event_id, at, world.tenant, EdgeStatement("user", "upsert", key, flags))
        writer.apply("t", {}, [(_RECORD, event)], [])

    state("e2", NEW, masking=True)
    change = 'update edges set "user" = "user" || \'{"masking": false}\' where tenant_id = %s and from_id = %s'
    with held(migrated, owner, change, world.tenant, key.from_id):
        thread = begun(lambda: state("e1", OLD, propagates=False))
    thread.join(PATIENCE_SECONDS)
    asked = "select \"user\" -> 'masking', \"user\" -> 'propagates' from edges where tenant_id = %s and from_id = %s"
    assert owner.execute(asked, [world.tenant, key.from_id]).fetchone() == (False, False)
