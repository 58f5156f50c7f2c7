"""A caller who may state assets can let one hold very many tags or parents. What PostgreSQL reads for it grows with
their number, not with its square."""

import asyncio
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from lily.lineage.tag_rules import TagRules
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.policies.facts import Wanted, read_facts
from lily.store.postgres.propagation.propagator import TenantPropagation
from lily.store.postgres.protection.pending import read_pending
from lily.store.postgres.sessions import Database
from tests.counted_reads import CountedReads
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

FEW, MANY = 100, 400
COLUMN = "shop.people.email"
RETURNED = "select pg_stat_get_xact_tuples_returned('held_parents_pkey'::regclass)"
Read = Callable[[Database, World, TagRules], Awaitable[object]]


async def read_column(database: Database, world: World, _: TagRules) -> object:
    found = await AssetReader(database, TagRulesCache(database)).find_many(world.tenant, [world.id_of(COLUMN)])
    tags = found[world.id_of(COLUMN)].view["tags"]
    assert tags["inherited"] == tags["effective"]
    return tags["effective"]


async def decide_column(database: Database, world: World, rules: TagRules) -> object:
    found = await read_facts(database, world.tenant, [COLUMN], Wanted(rules, rules.protective, attributes=False))
    return sorted(((facts := found[COLUMN]) and facts.tags) or ())


def counted(migrated: Migrated, world: World, read: Read) -> tuple[object, CountedReads]:
    async def story() -> tuple[object, CountedReads]:
        database = CountedReads(migrated.url_of("lily_api"))
        await database.open()
        try:
            rules = await TagRulesCache(database).get(world.tenant)
            return await read(database, world, rules), database
        finally:
            await database.close()

    return asyncio.run(story())


def with_held_tags(world: World, number: int, *, moved: bool = False) -> World:
    """A column below a table that holds this many tags, one of them protective. Nothing of it has authority."""
    world.authorised = False
    tags = ["PII", *(f"load {one}" for one in range(1, number))]
    for start in range(0, number, FEW):
        world.asset("shop.people", tags=tags[start : start + FEW])
    world.asset("shop.people", tags=[])
    world.column(COLUMN, "shop.people")
    if moved:
        world.asset("shop.orders")
        world.column(COLUMN, "shop.orders")
    world.settle()
    return world


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("read", [read_column, decide_column])
def test_what_many_held_tags_cost_grows_with_their_number(
    migrated: Migrated, make_world: Callable[[], World], read: Read, *, moved: bool
) -> None:
    few, many = (with_held_tags(make_world(), number, moved=moved) for number in (FEW, MANY))
    (before, cheap), (after, dear) = counted(migrated, few, read), counted(migrated, many, read)
    assert [str(tag).casefold() for tag in before] == [str(tag).casefold() for tag in after] == ["pii"]  # type: ignore[attr-defined]
    assert dear.blocks < 2 * (MANY / FEW) * cheap.blocks


async def list_pending(database: Database, world: World, rules: TagRules) -> object:
    page = await read_pending(database, world.tenant, rules, after=None, limit=50)
    return {(item.id.keys[1], item.ended_by) for item in page.items}


def test_the_history_of_an_asset_is_read_once_for_all_parents_that_it_holds(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    world.authorised = False
    parents = [f"shop.t{number}" for number in range(12)]
    for parent in parents:
        world.asset(parent, tags=["PII"])
        world.column(COLUMN, parent)
    world.settle()
    found, reads = counted(migrated, world, list_pending)
    assert found == {(world.id_of(parent), "crawler") for parent in parents[:-1]}
    assert reads.scans["changes"] == 1


def test_propagation_reads_the_parents_that_an_asset_holds_a_few_times(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world, number = make_world(), 100
    world.asset("report")
    world.authorised = False
    for one in range(number):
        world.asset(f"shop.t{one}", tags=["PII"])
        world.column(COLUMN, f"shop.t{one}")
    world.edge(COLUMN, "report")
    with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with connection.transaction():
            TenantPropagation(connection).run(world.tenant, world.marks)
            ((returned,),) = connection.execute(RETURNED).fetchall()
    assert world.derived() == {"report"}
    assert returned < 20 * number
