"""Below what the lake has columns of, any name is a column for decisions, whatever it or its table is stated to be."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from lily.store.postgres.lake.parents import add_lake_parents
from tests.lineage_world import World
from tests.postgres.cached_facts import CachedFacts
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.migrated import Migrated
from tests.postgres.test_lake_parents import of_the_same_place
from tests.postgres.test_names_in_any_case import tags_of

TABLE, FILE = "lake.crm.people", "bucket/crm/people.parquet"


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    world = make_world()
    world.authorised = False
    return world


@pytest.fixture
def decide(migrated: Migrated, world: World) -> Callable[[str], set[str]]:
    """The tags of all that a name may mean and that counts as known; what is below it restricts in any case."""
    return lambda name: asyncio.run(tags_of(migrated.url_of("lily_api"), world.tenant, name, known=True))


def retyped(world: World, kind: str) -> None:
    world.typed(kind, TABLE, tags=["PII"])
    world.typed("dashboard", TABLE, tags=["PII"])
    world.settle()


@pytest.mark.parametrize("kind", ["table", "view", "file"])
@pytest.mark.parametrize("asked", [f"{TABLE}.email", f"{TABLE.upper()}.Email"])
def test_a_plain_column_keeps_the_tags_of_a_table_that_is_stated_to_be_something_else(
    owner: psycopg.Connection, world: World, decide: Callable[[str], set[str]], kind: str, asked: str
) -> None:
    retyped(world, kind)
    assert decide(asked) == set()
    add_lake_parents(owner, [(world.tenant, TABLE)])
    assert decide(asked) == {"pii"}


def test_so_does_one_that_is_read_by_its_exact_name(
    owner: psycopg.Connection, world: World, decided: DecidedTags
) -> None:
    retyped(world, "table")
    assert decided.of(world, [f"{TABLE}.email"]) == {}
    add_lake_parents(owner, [(world.tenant, TABLE)])
    assert decided.of(world, [f"{TABLE}.email"]) == {f"{TABLE}.email": {"pii"}}
    assert decided.of(world, ["lake.crm.orders.email", "lake.crm.orders"]) == {}


def test_so_does_a_column_that_awaits_the_lake_before_its_names_are_listed(world: World, decided: DecidedTags) -> None:
    retyped(world, "table")
    world.typed("column", f"{TABLE}.email")
    assert decided.of(world, [f"{TABLE}.email"]) == {f"{TABLE}.email": {"pii"}}


@pytest.mark.parametrize("kind", ["file", "topic", "stream"])
def test_what_is_below_a_file_with_columns_is_a_column_whatever_it_is_stated_to_be(
    owner: psycopg.Connection, world: World, decide: Callable[[str], set[str]], kind: str
) -> None:
    world.typed(kind, FILE, tags=["PII"])
    world.typed("dashboard", f"{FILE}.email")
    world.settle()
    assert decide(f"{FILE}.email") == set()
    add_lake_parents(owner, [(world.tenant, FILE)])
    assert decide(f"{FILE}.email") == {"pii"}


def test_columns_of_another_tenant_or_table_do_not_count(
    owner: psycopg.Connection,
    world: World,
    make_world: Callable[[], World],
    decide: Callable[[str], set[str]],
    decided: DecidedTags,
) -> None:
    retyped(world, "table")
    others = ("lake.crm", "lake.crm.orders", of_the_same_place(world.tenant, TABLE))
    add_lake_parents(owner, [(make_world().tenant, TABLE), *((world.tenant, name) for name in others)])
    assert decide(f"{TABLE}.email") == set()
    assert decided.of(world, [f"{TABLE}.email"]) == {}


@pytest.mark.parametrize("kind", ["dashboard", "column"])
def test_a_column_of_a_table_that_only_edges_have_named_keeps_the_tags_of_it(
    owner: psycopg.Connection, world: World, decided: DecidedTags, kind: str
) -> None:
    world.asset("crm.people", tags=["PII"])
    world.edge("crm.people", TABLE)
    world.settle()
    add_lake_parents(owner, [(world.tenant, TABLE)])
    world.typed(kind, f"{TABLE}.email", parent=None)
    asked = [f"{TABLE}.email", world.id_of(f"{TABLE}.email")]
    assert decided.of(world, asked) == {name: {"pii"} for name in asked}
    world.settle()
    assert decided.of(world, asked) == {name: {"pii"} for name in asked}


@pytest.fixture(scope="module")
def cached(migrated: Migrated) -> Iterator[CachedFacts]:
    with closing(CachedFacts(migrated.url_of("lily_api"))) as found:
        yield found


def test_what_was_unknown_is_read_again_once_the_lake_has_columns_there(
    owner: psycopg.Connection, world: World, cached: CachedFacts
) -> None:
    retyped(world, "table")
    column = f"{TABLE}.email"
    assert [restricts_only for *_, restricts_only in cached.of(world.tenant, [column])[column]] == [True]
    add_lake_parents(owner, [(world.tenant, TABLE)])
    assert cached.difference(world.tenant, [column]) is None
    assert [restricts_only for *_, restricts_only in cached.of(world.tenant, [column])[column]] == [False]
