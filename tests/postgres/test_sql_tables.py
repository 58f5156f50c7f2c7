"""What a script of SQL finds in the catalogue of the tables that it names."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lily.api.ingest import known_tables as module
from lily.api.ingest.known_tables import known_tables
from lily.intake.sql.process import Unreadable
from lily.intake.sql.protocol import KnownTable
from lily.store.listing import AssetPage
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.catalogue.search import search
from lily.store.postgres.definitions.tags import TagRulesCache, read_tag_rules
from tests.api_database import opened
from tests.lineage_world import World
from tests.postgres.migrated import Migrated


class PostgresLister:
    """Of a tenant without a lake."""

    def __init__(self, database: Any) -> None:
        self._database = database

    async def page(self, tenant: str, request: Any, *_: str | None) -> AssetPage:
        found = await search(self._database, tenant, request, await read_tag_rules(self._database, tenant))
        return AssetPage(found.assets, found.last)


class NoPolicies:
    async def get(self, _: str) -> SimpleNamespace:
        return SimpleNamespace(denies_metadata=False)


async def found(url: str, tenant: str, tables: dict[str, str]) -> dict[str, KnownTable]:
    async with opened(url) as database:
        reader = AssetReader(database, TagRulesCache(database))
        services = SimpleNamespace(
            database=database,
            reader=reader,
            catalogue=reader,
            lister=PostgresLister(database),
            policies=NoPolicies(),
        )
        principal = SimpleNamespace(tenant=tenant, name="ann", scraper_group="")
        call = SimpleNamespace(tenant=tenant, services=services, principal=principal)
        return await known_tables(cast("Any", call), tables, "postgres")


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


@pytest.fixture
def url(migrated: Migrated) -> str:
    return migrated.url_of("lily_api")


def test_a_view_that_only_edges_have_named_has_the_columns_that_they_named(url: str, world: World) -> None:
    world.asset("s.u")
    world.column("s.u.email", "s.u", tags=["PII"])
    world.edge("s.u", "s.w")
    world.edge("s.u.email", "s.w.email")
    world.edge("s.u.email", "s.other.email")
    known = asyncio.run(found(url, world.tenant, {"s.w": "S.W", "s.nothing": "s.nothing"}))
    assert known == {"s.w": KnownTable("s.w", deleted={"email": "s.w.email"}, is_asset=False)}


def test_a_table_has_also_the_columns_that_only_edges_have_named(url: str, world: World) -> None:
    world.asset("s.u")
    world.column("s.u.id", "s.u")
    world.edge("s.x", "s.u.email")
    known = asyncio.run(found(url, world.tenant, {"s.u": "s.u"}))["s.u"]
    assert (known.columns, known.deleted) == ({"id": "s.u.id"}, {"email": "s.u.email"})


@pytest.mark.parametrize("column", ["column", "table", "named"])
def test_a_table_with_more_columns_than_can_be_moved_is_refused(
    url: str, world: World, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """Which of them are left out would decide who fills the table with columns."""
    monkeypatch.setattr(module, "MAX_COLUMNS", 3)
    monkeypatch.setattr(module, "PAGE", 2)
    world.asset("s.u")
    for number in range(3):
        world.column(f"s.u.{number}", "s.u", tags=["PII"])
    assert len(asyncio.run(found(url, world.tenant, {"s.u": "s.u"}))["s.u"].columns) == 3
    for number in range(4):
        if column == "named":
            world.edge("s.x", f"s.u.more{number}")
        else:
            world.typed(column, f"s.u.more{number}", parent="s.u")
    with pytest.raises(Unreadable, match=r"s\.u has more than 3 columns"):
        asyncio.run(found(url, world.tenant, {"s.u": "s.u"}))


@pytest.mark.parametrize("kind", ["column", "table"])
def test_columns_that_ended_with_authority_are_not_too_many(
    url: str, world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """So a table that was filled with columns can be followed again."""
    monkeypatch.setattr(module, "MAX_COLUMNS", 3)
    world.asset("s.u")
    for number in range(4):
        world.typed(kind, f"s.u.{number}", name=str(number), parent="s.u", tags=["PII"])
    for number in (2, 3):
        world.authorised = number == 3
        world.person(f"s.u.{number}", "delete")
    known = asyncio.run(found(url, world.tenant, {"s.u": "s.u"}))["s.u"]
    assert (set(known.columns), set(known.deleted)) == ({"0", "1"}, {"2"})
