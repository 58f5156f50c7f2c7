"""What an inherited tag is called: as defined, else as the ancestor states it."""

from collections.abc import Callable

import pytest

from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

COLUMN = "shop.people.email"


def tags(migrated: Migrated, world: World, name: str) -> dict[str, list[str]]:
    async def story(database: Database) -> dict[str, list[str]]:
        found = await AssetReader(database, TagRulesCache(database)).find_many(world.tenant, [world.id_of(name)])
        return dict(found[world.id_of(name)].view["tags"])

    return migrated.as_api(story)


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    world = make_world()
    world.column(COLUMN, "shop.people")
    return world


@pytest.mark.parametrize("moved", [False, True])
def test_a_tag_without_a_definition_is_called_as_the_ancestor_states_it(
    migrated: Migrated, world: World, *, moved: bool
) -> None:
    world.authorised = False
    world.asset("shop.people", tags=["Loaded by Ada"])
    if moved:
        world.asset("shop.orders")
        world.column(COLUMN, "shop.orders")
        world.column(COLUMN, "shop.people")
    assert tags(migrated, world, COLUMN)["inherited"] == ["Loaded by Ada"]


def test_a_tag_that_an_ancestor_only_derives_is_called_as_defined(migrated: Migrated, world: World) -> None:
    world.asset("shop.people")
    world.asset("crm", tags=["pii"])
    world.edge("crm", "shop.people")
    world.settle()
    assert tags(migrated, world, COLUMN)["inherited"] == ["PII"]
