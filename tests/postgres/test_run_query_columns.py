"""SQL of runs over tables whose columns are in the lake."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.model.states import AssetState
from lily.reactions.run_queries.task import WAITS
from lily.store.lake.tables import ASSETS, CATALOG, NAMESPACE
from tests.lineage_world import World
from tests.openlineage_words import dataset, schema
from tests.postgres.migrated import Migrated
from tests.postgres.run_queries import Edges, Runs, opened
from tests.postgres.test_table_changes import HOW, crawled, take_away
from tests.warehouse import Warehouse

WIDE = ("id", "email", "country")


class Lake:
    """A warehouse that the catalogue of the database names."""

    def __init__(self, root: Path, owner: psycopg.Connection[Any]) -> None:
        self._warehouse, self._owner = Warehouse(str(root)), owner

    def columns(self, tenant: str, table: str, *names: str, operation: str = "upsert") -> None:
        states = [_column(tenant, table, name, position, operation) for position, name in enumerate(names, 1)]
        self._warehouse.append_states(states)
        self.publish(self._warehouse.located.metadata[ASSETS])

    def publish(self, location: str) -> None:
        self.remove()
        self._owner.execute(
            "insert into iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) "
            "values (%s, %s, %s, %s)",
            [CATALOG, NAMESPACE, ASSETS, location],
        )

    def remove(self) -> None:
        self._owner.execute("delete from iceberg_tables where catalog_name = %s", [CATALOG])


def _column(tenant: str, table: str, name: str, position: int, operation: str) -> AssetState:
    stated = {
        "layer": "source",
        "operation": operation,
        "entity_type": "column",
        "qualified_name": f"{table}.{name}",
        "attributes": {"name": name, "parent": table, "ordinal_position": position},
    }
    statement = read_statement(stated, tenant=tenant)
    return AssetState.of(AssetEvent(ids.event_id(), "2026-01-01T00:00:00.000000Z", tenant, statement))


@pytest.fixture
def runs(migrated: Migrated, make_world: Callable[[], World]) -> Iterator[Runs]:
    with opened(migrated, make_world()) as made:
        yield made


@pytest.fixture
def lake(tmp_path: Path, owner: psycopg.Connection[Any]) -> Iterator[Lake]:
    made = Lake(tmp_path, owner)
    yield made
    made.remove()


def check(runs: Runs, expected: Edges) -> None:
    """By id, because the columns of the lake have no names in PostgreSQL."""
    assert runs.derived_ids() == {(runs.world.id_of(start), runs.world.id_of(end)) for start, end in expected}


def copied(source: str, target: str, *columns: str) -> Edges:
    return {(source, target), *((f"{source}.{column}", f"{target}.{column}") for column in columns)}


def test_a_star_has_the_columns_of_the_lake(runs: Runs, lake: Lake) -> None:
    runs.world.asset("raw.wide")
    lake.columns(runs.world.tenant, "raw.wide", *WIDE)
    runs.take("main.copy", "select * from raw.wide")
    runs.analyze()
    check(runs, copied("raw.wide", "main.copy", *WIDE))
    assert runs.world.live("column") == {f"main.copy.{column}" for column in WIDE}


def test_columns_are_inserted_by_their_positions(runs: Runs, lake: Lake) -> None:
    for table, columns in (("raw.wide", WIDE), ("main.target", ("a", "b", "c"))):
        runs.world.asset(table)
        lake.columns(runs.world.tenant, table, *columns)
    runs.take("main.target", "insert into main.target select * from raw.wide")
    runs.analyze()
    pairs = zip(WIDE, "abc", strict=True)
    inserted = {(f"raw.wide.{start}", f"main.target.{end}") for start, end in pairs}
    check(runs, {("raw.wide", "main.target"), *inserted})


def test_columns_that_postgresql_has_too_are_one_with_those_of_the_lake(runs: Runs, lake: Lake) -> None:
    runs.world.asset("raw.wide")
    runs.world.column("raw.wide.email", "raw.wide", tags=["PII"])
    lake.columns(runs.world.tenant, "raw.wide", *WIDE)
    runs.take("main.copy", "select * from raw.wide")
    runs.analyze()
    check(runs, copied("raw.wide", "main.copy", *WIDE))


def test_a_deleted_column_and_those_of_another_tenant_are_not_read(
    runs: Runs, lake: Lake, make_world: Callable[[], World]
) -> None:
    runs.world.asset("raw.wide")
    lake.columns(make_world().tenant, "raw.wide", "theirs")
    lake.columns(runs.world.tenant, "raw.wide", "gone")
    lake.columns(runs.world.tenant, "raw.wide", "gone", operation="delete")
    lake.columns(runs.world.tenant, "raw.wide", "id")
    runs.take("main.copy", "select * from raw.wide")
    runs.analyze()
    check(runs, copied("raw.wide", "main.copy", "id"))


def test_a_lake_that_cannot_be_read_is_waited_for_but_not_for_ever(runs: Runs, lake: Lake) -> None:
    runs.world.asset("raw.wide")
    lake.publish("/no/such/warehouse/1.metadata.json")
    runs.take("main.copy", "select id, email from raw.wide")
    job = runs.next_job()
    assert runs.run(job) is not None
    assert runs.run(job._replace(enqueued_at=job.enqueued_at - WAITS - timedelta(seconds=1))) is None
    runs.read_back()
    check(runs, copied("raw.wide", "main.copy", "id", "email"))


def test_a_query_whose_columns_postgresql_has_does_not_need_the_lake(runs: Runs, lake: Lake) -> None:
    runs.take("main.stg", "select id, email from raw.unknown")
    runs.analyze()
    lake.publish("/no/such/warehouse/1.metadata.json")
    runs.take(dataset("main.copy", schema=schema("id", "email")), "select * from main.stg", at="12:00")
    runs.analyze()
    assert copied("main.stg", "main.copy", "id", "email") <= runs.derived()


@pytest.mark.parametrize("how", HOW)
def test_a_star_has_a_column_that_was_taken_away_without_authority(runs: Runs, how: str) -> None:
    crawled(runs.world, "raw.people", "id", "email", tagged="email")
    take_away(runs.world, "raw.people.email", how)
    runs.take("main.copy", "insert into main.copy select * from raw.people")
    runs.analyze()
    assert copied("raw.people", "main.copy", "id", "email") <= runs.derived()


def test_a_star_has_no_column_that_was_deleted_and_stated_to_be_something_else(runs: Runs) -> None:
    crawled(runs.world, "raw.people", "id")
    runs.world.retire("raw.people.email")
    runs.take("main.copy", "select * from raw.people")
    runs.analyze()
    check(runs, copied("raw.people", "main.copy", "id"))


def test_a_column_that_is_named_elsewhere_displaces_none_that_is_named_below_the_table(runs: Runs) -> None:
    crawled(runs.world, "raw.people", "email", tagged="email")
    for odd in ("a.odd", "b.odd", "c.odd", "d.odd"):
        runs.world.column(odd, "raw.people", name="EMAIL")
    runs.take("main.copy", "select * from raw.people")
    runs.analyze()
    assert ("raw.people.email", "main.copy.email") in runs.derived()


def test_a_star_has_no_column_that_a_newer_schema_retired(runs: Runs) -> None:
    for day, columns in ((1, ("id", "email")), (2, ("id",))):
        runs.complete("main.a", f"1{day}:00", f"a{day}", outputs=[dataset("main.a", schema=schema(*columns))])
        runs.world.state_what_rules_say()
        copy = dataset("main.b", schema=schema(*columns))
        runs.take(copy, "select a.* from main.a a", at=f"1{day}:30", run=f"b{day}", inputs=[dataset("main.a")])
        runs.analyze()
        assert ("main.a.id", "main.b.id") in runs.derived()
        runs.world.state_what_rules_say()
    assert "main.a.email" not in runs.world.live("column")
    assert not {end for edge in runs.derived() for end in edge if end.endswith("email")}


@pytest.mark.parametrize("authorised", [True, False])
def test_a_star_has_no_column_that_was_deleted_with_authority_or_without(runs: Runs, *, authorised: bool) -> None:
    """Newer schemas retire columns all the time. What was derived from it before keeps its tags."""
    crawled(runs.world, "raw.people", "id", "email", tagged="email")
    runs.world.define("pii")
    runs.take("main.copy", "select * from raw.people", run="r1")
    runs.analyze()
    runs.world.settle()
    runs.world.authorised = authorised
    runs.world.retire("raw.people.email", "column")
    runs.take("main.second", "select * from raw.people", at="12:00", run="r2")
    runs.analyze()
    runs.world.settle()
    assert {edge for edge in runs.derived() if edge[1].startswith("main.second")} == copied(
        "raw.people", "main.second", "id"
    )
    assert "main.copy.email" in runs.world.derived()


OWNER = {"name": "Owner", "type": "struct", "fields": [{"name": "mail", "type": "varchar"}]}
DEVICE = {"name": "device", "type": "struct", "fields": [{"name": "os", "type": "varchar"}, OWNER]}


@pytest.fixture
def events(runs: Runs) -> Runs:
    """A table whose column `device` is a struct, as a producer's schema has it."""
    runs.complete("load", outputs=[dataset("main.events", schema={"fields": [{"name": "id", "type": "int"}, DEVICE]})])
    return runs


def test_a_field_of_a_struct_leads_to_its_leaf(events: Runs) -> None:
    sql = "select e.device.os as system, (e.device).owner.mail as mail from main.events as e"
    events.take("main.flat", sql)
    events.analyze()
    assert ("main.events.device.os", "main.flat.system") in events.derived()
    assert ("main.events.device.Owner.mail", "main.flat.mail") in events.derived()


def test_a_star_has_structs_and_not_the_fields_in_them(events: Runs) -> None:
    events.take("main.copy", "select * from main.events")
    events.analyze()
    of_columns = {end for start, end in events.derived() if start.startswith("main.events.")}
    assert {"main.copy.id", "main.copy.device"} <= of_columns
    assert "main.copy.os" not in of_columns
    assert "main.copy.mail" not in of_columns
