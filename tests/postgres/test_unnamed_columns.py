"""Columns that only edges are about: no catalogue lists them, and the reader of an Iceberg table would show them."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest

from lily.api.enforcement.columns import unnamed_columns
from lily.enforce.iceberg import Column, Field
from lily.policy import Facts
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

TABLE, EMAIL = "lake.crm.people", "lake.crm.people.email"


class Unnamed:
    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        self._runner, self._database = runner, database

    def of(self, tenant: str, listed: Iterable[str] = ()) -> list[Facts]:
        return self._runner.run(self._of(tenant, [Column(Field(name), (name,)) for name in listed]))

    async def _of(self, tenant: str, listed: list[Column]) -> list[Facts]:
        rules = await read_tag_rules(self._database, tenant)
        wanted = Wanted(rules, rules.protective, attributes=False)
        tables = (await read_candidates(self._database, tenant, [TABLE], wanted))[TABLE]
        return await unnamed_columns(self._database, tenant, tables, listed, wanted)


@contextmanager
def opened(url: str) -> Iterator[Unnamed]:
    with asyncio.Runner() as runner:
        database = Database(url)
        runner.run(database.open())
        try:
            yield Unnamed(runner, database)
        finally:
            runner.run(database.close())


@pytest.fixture(scope="module")
def unnamed(migrated: Migrated) -> Iterator[Unnamed]:
    with opened(migrated.url_of("lily_api")) as found:
        yield found


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    found = make_world()
    found.asset(TABLE)
    found.asset("crm.persons.mail", tags=["PII"])
    found.edge("crm.persons.mail", EMAIL)
    found.settle()
    return found


def test_a_column_that_nobody_ingested_has_the_tags_of_its_lineage(unnamed: Unnamed, world: World) -> None:
    (facts,) = unnamed.of(world.tenant)
    assert (facts.id, set(facts.tags), facts.ancestors[0].qualified_name) == (world.id_of(EMAIL), {"pii"}, TABLE)


def test_a_column_that_is_listed_is_decided_by_its_name(unnamed: Unnamed, world: World) -> None:
    assert unnamed.of(world.tenant, listed=[EMAIL]) == []
