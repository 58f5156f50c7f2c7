"""A column that only the lake has may be stated as something else. PostgreSQL has to know that the lake may have it."""

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count

import psycopg
import pytest

from lily.bus import topics
from lily.model import ids
from lily.model.columns import states_of
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.model.states import merge_states
from lily.store.postgres.catalogue.writer import BatchCounts, CatalogueWriter
from lily.store.postgres.lake.commits import LakeLedger
from lily.store.postgres.lake.parents import share_lake_parents
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.test_concurrent_merges import NEW, OLD, begun, held_open

_RECORD = Record(topics.ASSETS, 0, 0, OLD, None, None)


@pytest.fixture
def writer(migrated: Migrated) -> Iterator[CatalogueWriter]:
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as found:
        yield found


@pytest.fixture
def ledger(migrated: Migrated) -> Iterator[LakeLedger]:
    with closing(LakeLedger(migrated.url_of("lily_pipeline"))) as found:
        yield found


def stated(tenant: str, name: str, kind: str, at: str = NEW) -> AssetEvent:
    data = {"qualified_name": name, "entity_type": kind, "attributes": {"name": name.rpartition(".")[2]}}
    return AssetEvent(f"{kind} {name}", at, tenant, read_statement(data, tenant=tenant))


def write_to_lake(writer: CatalogueWriter, tenant: str, name: str) -> BatchCounts:
    """What the lake query does in PostgreSQL with a plain column."""
    event = stated(tenant, name, "column", OLD)
    return writer.merge_existing(merge_states(states_of(event)), [(_RECORD, event)], [])


def awaits_lake(writer: CatalogueWriter, owner: psycopg.Connection, world: World, name: str, kind: str) -> bool:
    """Whether an asset that is stated now may have a state in the lake."""
    writer.apply("t", {}, [(_RECORD, stated(world.tenant, name, kind))], [])
    asked = "select awaits_lake from assets where tenant_id = %s and qualified_name = %s"
    ((found,),) = owner.execute(asked, [world.tenant, name]).fetchall()
    return bool(found)


def test_what_has_the_name_of_a_column_may_be_in_the_lake(
    owner: psycopg.Connection, writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    world, other = make_world(), make_world()
    assert not awaits_lake(writer, owner, world, "db.people.ssn", "table")
    write_to_lake(writer, world.tenant, "db.people.email")
    assert awaits_lake(writer, owner, world, "db.people.email", "table")
    assert awaits_lake(writer, owner, world, "db.people.phone", "dashboard")
    assert not awaits_lake(writer, owner, world, "db.people", "table")
    assert not awaits_lake(writer, owner, world, "db.orders", "table")
    assert not awaits_lake(writer, owner, world, "people", "table")
    assert not awaits_lake(writer, owner, other, "db.people.email", "table")


def of_the_same_place(tenant: str, table: str) -> str:
    """Another table, below which ids begin with the same 16 bits."""
    place = ids.ids_below(tenant, table)[0]
    return next(name for number in count() if ids.ids_below(tenant, name := f"db.t{number}")[0] == place)


def test_what_only_begins_with_the_same_bits_is_not_in_the_lake(
    owner: psycopg.Connection, writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    world = make_world()
    write_to_lake(writer, world.tenant, "db.people.email")
    assert not awaits_lake(writer, owner, world, f"{of_the_same_place(world.tenant, 'db.people')}.email", "table")


def test_another_tenant_whose_names_are_not_listed_does_not_count(
    owner: psycopg.Connection, writer: CatalogueWriter, ledger: LakeLedger, make_world: Callable[[], World]
) -> None:
    unlisted = "insert into lake_parents values (%s, '*', '00000000-0000-0000-0000-000000000000')"
    owner.execute(unlisted, [make_world().tenant])
    try:
        assert not awaits_lake(writer, owner, make_world(), "db.people.email", "table")
    finally:
        ledger.parents_are_complete()


def test_another_process_adds_the_name_again_without_a_conflict(
    migrated: Migrated, owner: psycopg.Connection, writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    world = make_world()
    write_to_lake(writer, world.tenant, "db.people.email")
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as another:
        write_to_lake(another, world.tenant, "db.people.phone")
    assert owner.execute("select count(*) from lake_parents where tenant_id = %s", [world.tenant]).fetchone() == (1,)


def test_anything_may_be_in_a_lake_whose_names_are_not_listed(
    owner: psycopg.Connection, writer: CatalogueWriter, ledger: LakeLedger, make_world: Callable[[], World]
) -> None:
    world = make_world()
    assert not ledger.lacks_parents()
    ledger.forget_parents()
    ledger.forget_parents()
    assert ledger.lacks_parents()
    assert awaits_lake(writer, owner, world, "db.people.email", "table")
    ledger.add_parents([(world.tenant, "db.people")])
    ledger.parents_are_complete()
    assert not ledger.lacks_parents()
    assert awaits_lake(writer, owner, world, "db.people.phone", "table")
    assert not awaits_lake(writer, owner, world, "db.orders.id", "table")


def test_a_column_that_arrives_while_it_is_stated_as_a_table_is_merged_with_it(
    migrated: Migrated, owner: psycopg.Connection, writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    world = make_world()
    asset = (world.tenant, world.id_of("db.people.email"))
    merged: list[BatchCounts] = []
    with held_open(migrated, owner) as connection:
        share_lake_parents(connection)  # as the hot query does before it adds assets
        connection.execute(
            "insert into assets (tenant_id, id, qualified_name, source, source_at, created_at, updated_at) "
            "values (%s, %s, 'db.people.email', '{\"$type\": \"table\"}', %s, '2026-01-01', '2026-01-01')",
            [*asset, f"{NEW}/hot"],
        )
        thread = begun(lambda: merged.append(write_to_lake(writer, world.tenant, "db.people.email")))
    thread.join(30)
    assert [counts.merged for counts in merged] == [1]
