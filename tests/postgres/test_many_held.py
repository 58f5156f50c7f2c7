"""A caller who may state assets can let one hold very many tags or parents. What PostgreSQL reads for it grows with
their number, not with its square."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count

import psycopg
import pytest

from lily.bus import topics
from lily.lineage.marks import AssetMark
from lily.lineage.tag_rules import TagRules
from lily.model import clock, ids
from lily.model.events import AssetEvent
from lily.model.layer_limits import MAX_BYTES, MAX_HELD
from lily.model.layers import Layer
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.model.states import AssetState
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


LARGE = "shop.people"
OFFSETS = count(1 << 40)


def stated(world: World, *given: dict[str, object], authorised: bool = False) -> tuple[int, int]:
    """Statements of one batch about the same table: how many layers were merged, and how many statements refused."""
    events = []
    for attributes in given:
        data = {"entity_type": "table", "qualified_name": LARGE, "attributes": {"name": LARGE, **attributes}}
        statement = read_statement({**data, "authorised": authorised}, tenant=world.tenant)
        events.append(
            (
                Record(topics.ASSETS, 0, next(OFFSETS), clock.now(), b"", b""),
                AssetEvent(ids.event_id(), clock.now(), world.tenant, statement),
            )
        )
    counts = world.store.apply(topics.ASSETS, {}, events, [])
    world.marks.assets.append(AssetMark(world.id_of(LARGE)))
    return counts.changed, counts.refused


def tags_of_load(number: int) -> dict[str, object]:
    return {"tags": [f"load {number}, file {one}" for one in range(500)]}


def letters(owner: psycopg.Connection, world: World) -> list[str]:
    asked = "select errors -> 0 ->> 'code' from dead_letters where tenant_id = %s"
    return [code for (code,) in owner.execute(asked, [world.tenant])]


def test_what_an_asset_holds_is_limited_and_what_would_exceed_that_ends_nothing(
    owner: psycopg.Connection, make_world: Callable[[], World]
) -> None:
    world = make_world()
    world.asset("report")
    world.edge(LARGE, "report")
    stated(world, {"tags": ["PII"]})
    loads = MAX_HELD // 500
    for number in range(loads):
        assert stated(world, tags_of_load(number)) == (1, 0)
    assert stated(world, tags_of_load(loads)) == (0, 1)
    assert stated(world, tags_of_load(loads), {"tags": ["GDPR"]}) == (0, 2)
    assert letters(owner, world) == ["TOO_LARGE"] * 3
    assert stated(world, {**tags_of_load(loads - 1), "description": "As before, with a description."}) == (1, 0)
    world.settle()
    assert world.derived("pii") == {"report"}
    assert stated(world, {"tags": ["GDPR"]}, authorised=True) == (1, 0)
    world.settle()
    assert (world.derived("pii"), world.derived("gdpr")) == (set(), {"report"})
    assert stated(world, tags_of_load(loads)) == (1, 0)


def test_statements_with_authority_are_not_limited(make_world: Callable[[], World]) -> None:
    world = make_world()
    for number in range(2 * MAX_HELD // 500):
        stated(world, tags_of_load(number))
    assert stated(world, {"description": "x" * 60_000}, authorised=True) == (1, 0)


@pytest.mark.parametrize("at_once", [False, True])
def test_the_size_of_a_layer_is_limited(
    owner: psycopg.Connection, make_world: Callable[[], World], *, at_once: bool
) -> None:
    world = make_world()
    number = MAX_BYTES // 65_000 + 1
    given: list[dict[str, object]] = [{f"note {one}": "x" * 65_000} for one in range(number)]
    found = [stated(world, *given)] if at_once else [stated(world, one) for one in given]
    assert found == ([(0, number)] if at_once else [*[(1, 0)] * (number - 1), (0, 1)])
    assert set(letters(owner, world)) == {"TOO_LARGE"}
    if at_once:
        assert stated(world, *given, authorised=True) == (1, 0)
    assert stated(world, {"note 0": "shorter"}) == (1, 0)
    assert stated(world, {"note x": "x" * 65_000}, authorised=True) == (1, 0)
    for more in ("note y", "note z"):
        assert stated(world, {more: "x" * 65_000}, authorised=True) == (1, 0)
    assert stated(world, {"note y": "shorter, and still too large"}) == (1, 0)


def test_what_the_lake_has_is_promoted_whatever_its_size(
    owner: psycopg.Connection, make_world: Callable[[], World]
) -> None:
    """It would lose its tags otherwise."""
    world = make_world()
    stated(world, {"tags": ["PII"], "description": "The lake does not have this."})
    at = f"{clock.now()}/{ids.event_id()}"
    held = {f"$held_parent:{ids.asset_id(world.tenant, str(one))}": True for one in range(MAX_HELD + 1)}
    layer = Layer({"name": LARGE, "$type": "table", "tags": {"pii": "PII"}, **held}, at)
    time = at.partition("/")[0]
    state = AssetState(world.tenant, world.id_of(LARGE), LARGE, time, time, {"source": layer})
    assert world.store.promote([state], [(world.tenant, state.id)]) == 1
    asked = (
        "select count(*) from assets a, jsonb_object_keys(a.source) k where a.tenant_id = %s and k ^@ '$held_parent:'"
    )
    assert owner.execute(asked, [world.tenant]).fetchone() == (MAX_HELD + 1,)
    assert stated(world, {"description": "What is there already may be stated again."}) == (1, 0)
    assert stated(world, {"parent": "elsewhere"}) == (1, 0)
    assert stated(world, {"parent": "yet elsewhere"}) == (0, 1)


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
