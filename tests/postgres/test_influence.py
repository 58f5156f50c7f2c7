"""A column that only decides which rows or values there are is not part of them."""

import asyncio
from collections.abc import Callable, Collection

import psycopg
import pytest

from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.propagation.dry_run import assets_reached
from lily.store.postgres.propagation.origins import origins_of
from tests.api_database import opened
from tests.lineage_world import World
from tests.openlineage_words import column_lineage, dataset, field, run_event
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.migrated import Migrated


def grouped_by_email(world: World) -> None:
    """As Spark's listener reports `select sha2(email), count(*) … group by email`."""
    indirect, masked = {"type": "INDIRECT", "subtype": "GROUP_BY"}, {"type": "DIRECT", "masking": True}
    lineage = column_lineage(
        hash=[field("people", "email", masked)], total=[field("people", "email", indirect), field("people", "id")]
    )
    lineage["dataset"] = [field("people", "email", indirect)]
    world.take(run_event(inputs=[dataset("people")], outputs=[dataset("report", columnLineage=lineage)]))
    world.person("people.email", "upsert", attributes={"tags": ["PII", "GDPR"]})


def test_pii_does_not_follow_influences(make_world: Callable[[], World]) -> None:
    world = make_world()
    grouped_by_email(world)
    world.settle()
    assert world.derived("pii") == set()
    assert world.derived("gdpr") == {"report.hash"}  # masking does not stop it
    assert world.stored() == world.recomputed()


@pytest.mark.parametrize("tag", ["pii", "gdpr"])
def test_a_tag_follows_influences_where_its_definition_names_them(make_world: Callable[[], World], tag: str) -> None:
    world = make_world()
    grouped_by_email(world)
    world.define(tag, edge_types=["influences"])
    world.settle()
    assert world.derived(tag, "influenced") == {"report", "report.total"}
    assert world.derived(tag) == set()
    assert world.stored() == world.recomputed()
    world.define(tag)
    world.settle()
    assert world.derived(tag) == {"report.hash"}
    assert world.stored() == world.recomputed()


def test_what_is_derived_from_all_types_but_influences(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.asset("a", tags=["PII"])
    for kind in ("derived-from", "used-in", "contains", "of-our-own", "influences"):
        world.asset(kind)
        world.edge("a", kind, kind)
    world.settle()
    assert world.derived("pii") == {"derived-from", "used-in", "contains", "of-our-own"}


def reports(world: World) -> None:
    """`people.email` decides which rows `report` has, and `copy` is a copy of it. Each has a column with lineage."""
    for name in ("people.email", "report", "copy", "elsewhere"):
        world.asset(name)
    for table in ("report", "copy"):
        world.asset(f"{table}.total", parent=table)
        world.edge(f"{table}.total", "elsewhere")
    world.edge("people.email", "report", "influences")
    world.edge("report", "copy")
    world.define("secret", edge_types=["derived-from", "influences"])
    world.person("people.email", "tag", tag="secret")


EVERYWHERE = {"report", "copy", "report.total", "copy.total", "elsewhere"}


def tagged(world: World, owner: psycopg.Connection, names: Collection[str] = EVERYWHERE) -> set[str]:
    """Those that reads show with the tag."""
    asked = (
        "select a.qualified_name from assets a, reached_from_elsewhere(%(tenant)s, '{secret}', false, array[a.id],"
        " array[a.parent::uuid]) r where a.tenant_id = %(tenant)s and a.qualified_name = any (%(names)s)"
        " and ('secret' = any (r.propagated) or r.inherited ? 'secret')"
    )
    return {name for (name,) in owner.execute(asked, {"tenant": world.tenant, "names": list(names)})}


def test_an_influence_on_a_table_is_not_inherited_by_its_columns(
    make_world: Callable[[], World], decided: DecidedTags, owner: psycopg.Connection
) -> None:
    world = make_world()
    reports(world)
    arriving = decided.of(world, EVERYWHERE)  # nothing has propagated yet
    assert {name for name, tags in arriving.items() if tags == {"secret"}} == {"report", "copy"}
    world.settle()
    assert tagged(world, owner) == {"report", "copy"}
    assert world.stored() == world.recomputed()
    assert world.unexplained() == []
    assert world.derived("secret", "influenced") == {"report", "copy"}
    assert world.derived("secret") == world.derived("secret", "inherited") == set()


def test_what_a_table_is_derived_from_as_well_is_inherited(
    make_world: Callable[[], World], decided: DecidedTags, owner: psycopg.Connection
) -> None:
    world = make_world()
    reports(world)
    world.settle()
    world.edge("people.email", "report")
    arriving = decided.of(world, EVERYWHERE)
    assert {name for name, tags in arriving.items() if tags == {"secret"}} == EVERYWHERE
    world.settle()
    assert tagged(world, owner) == EVERYWHERE
    assert world.stored() == world.recomputed()
    world.unlink("people.email", "report")
    world.settle()
    assert tagged(world, owner) == {"report", "copy"}
    assert world.stored() == world.recomputed()


def test_a_dry_run_and_the_search_for_origins_go_as_far_as_the_tag(
    make_world: Callable[[], World], migrated: Migrated
) -> None:
    world = make_world()
    reports(world)
    world.settle()

    async def searched() -> tuple[set[str], dict[str, list[str]]]:
        async with opened(migrated.url_of("lily_api")) as database:
            reader = AssetReader(database, TagRulesCache(database))
            assets = await reader.find_many(world.tenant, [world.id_of(name) for name in (*EVERYWHERE, "people.email")])
            email = assets[world.id_of("people.email")]
            reached = await assets_reached(database, email, email.rules, "secret")
            origins = {one.qualified_name: await origins_of(database, one, "secret") for one in assets.values()}
            return {one.qualified_name or "" for one in reached}, {name: one.ids for name, one in origins.items()}

    reached, origins = asyncio.run(searched())
    assert reached == {"report", "copy"}
    assert {name for name, found in origins.items() if found} == {"report", "copy"}
