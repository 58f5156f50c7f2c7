"""What is directly below a name has what restricts the asset of that name, whatever either of them is stated to be."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from lily.policy import Facts
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.lake.parents import add_lake_parents
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Wanted
from tests.api_database import opened
from tests.lineage_world import World
from tests.postgres.cached_facts import CachedFacts
from tests.postgres.migrated import Migrated
from tests.postgres.test_fact_cache import catch_up_with_lake

TABLE, SECRET = "shop.s.v", "shop.s.v.secret"
TYPES = ["dashboard", "column", "field", "schema", "file", "topic", "table"]
Found = Callable[[str], list[Facts]]


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    world = make_world()
    world.typed("table", TABLE, tags=["PII"])
    world.authorised = False
    return world


@pytest.fixture
def found(migrated: Migrated, world: World) -> Found:
    """What a reference means."""

    async def read(reference: str) -> list[Facts]:
        async with opened(migrated.url_of("lily_api")) as database:
            rules = await read_tag_rules(database, world.tenant)
            wanted = Wanted(rules, rules.protective, attributes=True)
            return (await read_candidates(database, world.tenant, [reference], wanted))[reference]

    return lambda reference: asyncio.run(read(reference))


def tags(found: list[Facts]) -> set[str]:
    return {tag for facts in found for tag in facts.tags}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("asked", [SECRET, SECRET.upper()])
def test_a_name_that_nobody_stated_keeps_the_tags_of_what_is_above_it(
    world: World, found: Found, kind: str, asked: str
) -> None:
    world.typed(kind, TABLE, tags=["PII"])
    assert tags(found(asked)) == {"pii"}
    assert any(above.qualified_name == TABLE for facts in found(asked) for above in facts.ancestors)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("column", ["column", "dashboard", "table"])
def test_so_does_one_that_is_stated_without_a_parent(world: World, found: Found, kind: str, column: str) -> None:
    world.typed(kind, TABLE, tags=["PII"])
    world.typed(column, SECRET)
    for asked in (SECRET, SECRET.upper(), world.id_of(SECRET)):
        assert tags(found(asked)) == {"pii"}, asked


def test_what_is_no_column_for_certain_is_granted_nothing(world: World, found: Found) -> None:
    assert [facts.restricts_only for facts in found(SECRET)] == [False]
    world.typed("dashboard", TABLE, tags=["PII"], data_source="crm")
    (only,) = found(SECRET)
    assert (only.restricts_only, only.data_source, only.qualified_name) == (True, "crm", SECRET)
    world.typed("dashboard", SECRET, data_source="own", owner="ada")
    own, only = found(SECRET)
    assert (own.restricts_only, own.data_source, own.tags) == (False, "own", frozenset())
    assert (only.restricts_only, only.data_source, (only.attributes or {})["owner"]) == (True, "crm", "ada")


def test_conditions_on_attributes_are_unknown_where_a_name_means_several(world: World, found: Found) -> None:
    world.typed("dashboard", TABLE, tags=["PII"])
    world.typed("dashboard", SECRET, owner="ada")
    world.typed("dashboard", SECRET.upper(), owner="bob")
    assert [facts.attributes for facts in found(SECRET) if facts.restricts_only] == [None]


def test_what_states_its_parent_has_nothing_twice(world: World, found: Found) -> None:
    world.typed("schema", "shop.s", tags=["GDPR"])
    world.typed("table", "shop.s.t", parent="shop.s")
    assert [(facts.restricts_only, set(facts.tags)) for facts in found("shop.s.t")] == [(False, {"gdpr"})]


@pytest.mark.parametrize("kind", ["column", "field", "dashboard"])
def test_what_the_lake_has_columns_of_has_columns_that_are_known(
    owner: psycopg.Connection, world: World, found: Found, kind: str
) -> None:
    add_lake_parents(owner, [(world.tenant, TABLE)])
    world.typed(kind, TABLE, tags=["PII"])
    assert [(facts.restricts_only, set(facts.tags)) for facts in found(SECRET)] == [(False, {"pii"})]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("settled", [False, True])
def test_a_column_that_only_an_edge_has_named_keeps_them_by_its_id(
    world: World, found: Found, kind: str, *, settled: bool
) -> None:
    world.asset("r")
    world.edge("r", SECRET)
    if settled:
        world.settle()
    world.typed(kind, TABLE, tags=["PII"])
    for asked in (SECRET, world.id_of(SECRET)):
        assert tags(found(asked)) == {"pii"}, asked
    world.typed("dashboard", SECRET)
    for asked in (SECRET, world.id_of(SECRET)):
        assert tags(found(asked)) == {"pii"}, asked


@pytest.mark.parametrize("kind", ["dashboard", "column"])
def test_a_column_with_lineage_that_is_spelled_otherwise_is_found_below_anything(
    world: World, found: Found, kind: str
) -> None:
    world.typed(kind, "crm")
    world.asset("persons", tags=["PII"])
    world.edge("persons", "crm.MAIL")
    assert tags(found("crm.mail")) == {"pii"}
    world.settle()
    assert tags(found("crm.mail")) == {"pii"}


@pytest.fixture(scope="module")
def cached(migrated: Migrated) -> Iterator[CachedFacts]:
    with closing(CachedFacts(migrated.url_of("lily_api"))) as found:
        yield found


def test_what_is_kept_is_read_again_once_what_is_above_changes(
    owner: psycopg.Connection, world: World, cached: CachedFacts
) -> None:
    column = "open.d.c"
    world.asset("other")
    world.typed("dashboard", column, parent="other")
    asked = [column, world.id_of(column), "open.d.unknown"]
    for change in (
        lambda: None,
        lambda: world.typed("dashboard", "open.d"),
        lambda: world.typed("dashboard", "open.d", tags=["PII"]),
        lambda: world.typed("column", "open.d", tags=["PII"]),
        lambda: world.typed("schema", "open", tags=["GDPR"]),
        lambda: world.typed("column", "open.d", tags=["PII"], parent="open"),
        lambda: world.typed("schema", "open", tags=["GDPR", "secret"]),
        world.settle,
    ):
        change()
        catch_up_with_lake(owner, world)
        assert cached.difference(world.tenant, asked) is None
    assert all("gdpr" in str(assets) for assets in cached.of(world.tenant, asked).values())


@pytest.mark.parametrize("kind", ["table", "dashboard"])
def test_it_is_found_also_where_the_same_request_names_it(migrated: Migrated, world: World, kind: str) -> None:
    world.typed(kind, "crm")
    world.asset("persons", tags=["PII"])
    world.edge("persons", "crm.mail")

    async def read() -> dict[str, list[Facts]]:
        async with opened(migrated.url_of("lily_api")) as database:
            rules = await read_tag_rules(database, world.tenant)
            wanted = Wanted(rules, rules.protective, attributes=False)
            return await read_candidates(database, world.tenant, ["crm.mail", "crm.MAIL"], wanted)

    assert [tags(facts) for facts in asyncio.run(read()).values()] == [{"pii"}, {"pii"}]
