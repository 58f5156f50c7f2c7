"""The names by which edges name assets, as they are stored, and what decisions make of them."""

from collections.abc import Callable

import psycopg
import pytest

from lily.api.auth.placeholders import facts_of_placeholders
from lily.lineage.tag_rules import DEFAULT_TAG_RULES
from lily.policy import Ancestor, Facts
from lily.store.postgres.graph.placeholders import find_placeholder, named_ends
from lily.store.postgres.policies.facts import Wanted
from tests.lineage_world import World
from tests.openlineage_words import DB, run_event, schema
from tests.postgres.migrated import Migrated

WANTED = Wanted(DEFAULT_TAG_RULES, DEFAULT_TAG_RULES.protective, attributes=False)


def stored(owner: psycopg.Connection, world: World) -> dict[str, str]:
    rows = owner.execute("select id::text, qualified_name from named_ends where tenant_id = %s", [world.tenant])
    return dict(rows.fetchall())


def facts(migrated: Migrated, world: World, name: str) -> Facts:
    asset = world.id_of(name)
    found = migrated.as_api(lambda database: facts_of_placeholders(database, world.tenant, [asset], WANTED))
    return found[asset]


def test_only_ends_that_are_not_assets_are_named(owner: psycopg.Connection, make_world: Callable[[], World]) -> None:
    world = make_world()
    world.asset("a")
    world.edge("a", "b")
    world.edge(world.id_of("b"), world.id_of("c"))
    assert stored(owner, world) == {world.id_of("b"): "b"}


def test_a_placeholder_needs_an_edge(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world, other = make_world(), make_world()
    asset = world.id_of("b")
    world.edge("a", "b")
    found = migrated.as_api(lambda database: find_placeholder(database, world.tenant, asset))
    assert found is not None
    assert found.qualified_name == "b"
    assert migrated.as_api(lambda database: find_placeholder(database, other.tenant, asset)) is None
    assert migrated.as_api(lambda database: named_ends(database, other.tenant, [asset])) == {}
    world.unlink("a", "b")
    assert migrated.as_api(lambda database: find_placeholder(database, world.tenant, asset)) is None


@pytest.mark.parametrize(("start", "end"), [("a", "b"), ("b", "a")])
def test_a_placeholder_on_an_edge_that_is_held_is_still_one(
    migrated: Migrated, make_world: Callable[[], World], start: str, end: str
) -> None:
    world = make_world()
    asset = world.id_of("b")
    world.edge(start, end)
    world.unlink(start, end, authorised=False)
    found = migrated.as_api(lambda database: find_placeholder(database, world.tenant, asset))
    assert found is not None
    world.unlink(start, end)
    assert migrated.as_api(lambda database: find_placeholder(database, world.tenant, asset)) is None


def test_what_its_name_begins_with_is_an_ancestor(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world = make_world()
    world.typed("schema", "vault", data_source="warehouse", tags=["Finance"])
    world.typed("schema", "vaults")
    world.edge("a", "vault.orders.iban")
    found = facts(migrated, world, "vault.orders.iban")
    assert found.qualified_name == "vault.orders.iban"
    assert found.ancestors == tuple(Ancestor(world.id_of(name), name) for name in ("vault.orders", "vault"))
    assert found.data_source == "warehouse"
    assert "finance" in found.tags
    assert facts(migrated, world, "a").ancestors == ()


def test_a_column_of_a_known_table_has_its_ancestors(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world = make_world()
    world.typed("schema", "shop")
    world.asset("elsewhere.people", parent="shop")
    world.edge("a", "elsewhere.people.email")
    names = [one.qualified_name for one in facts(migrated, world, "elsewhere.people.email").ancestors]
    assert names == ["elsewhere.people", "shop"]


def test_a_column_of_another_name_of_its_table_has_a_name(
    owner: psycopg.Connection, migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    symlinks = {"identifiers": [{"namespace": DB, "name": "shop.t", "type": "TABLE"}]}
    facets = {"symlinks": symlinks, "schema": schema("email")}
    world.take(run_event(outputs=[{"namespace": "s3://lake", "name": "t", "facets": facets}]))
    column = world.id_of("s3://lake/t.email")
    assert stored(owner, world) == {column: "s3://lake/t.email"}
    found = migrated.as_api(lambda database: find_placeholder(database, world.tenant, column))
    assert found is not None
    assert found.qualified_name == "s3://lake/t.email"
