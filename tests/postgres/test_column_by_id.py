"""A decision about a column by its id counts the table of its name, while only the lake knows that it is below it."""

import uuid
from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from lily.lineage.lake_nodes import LakeNode
from lily.lineage.marks import EdgeMark
from lily.model import ids
from lily.store.postgres.propagation.propagator import Propagator
from tests.lineage_world import World
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.migrated import Migrated


@pytest.mark.parametrize(
    "name", ["t.a", "s.t.a", "lake/raw/file.csv", "a/b", "ä.ö.ü", "s..a", ".a", "t.", "plain", "..", "/x", "s.t.\n.a"]
)
def test_the_database_derives_the_id_of_the_table_as_the_model_does(owner: psycopg.Connection, name: str) -> None:
    tenant, above = uuid.uuid4().hex[:12], ids.name_prefix(name)
    rows = owner.execute("select id_above_name(%s, %s)::text", [tenant, name]).fetchall()
    assert rows == [(None if above == name else ids.asset_id(tenant, above),)]


@pytest.mark.parametrize("parent", ["other", None])
def test_a_column_that_is_moved_before_the_lake_was_read_keeps_the_tags_of_its_table_also_by_id(
    make_world: Callable[[], World], decided: DecidedTags, parent: str | None
) -> None:
    world = make_world()
    world.asset("t", tags=["pii"])
    world.asset("other")
    world.authorised = False
    world.column("t.a", "other", parent=parent)
    found = decided.of(world, ["t.a", world.id_of("t.a")])
    assert found["t.a"] == found[world.id_of("t.a")] == {"pii"}


def test_a_column_that_only_an_edge_has_named_counts_as_one_of_the_table_of_its_name(
    make_world: Callable[[], World], decided: DecidedTags
) -> None:
    world = make_world()
    world.asset("t", tags=["pii"])
    world.asset("r")
    world.edge("r", "t.a")
    for _ in range(2):
        assert decided.of(world, [world.id_of("t.a")]) == {world.id_of("t.a"): {"pii"}}
        world.settle()


def test_until_the_lake_is_asked_about_a_column_that_has_no_name_every_tag_that_propagates_counts(
    make_world: Callable[[], World], decided: DecidedTags, migrated: Migrated
) -> None:
    world = make_world()
    world.asset("t", tags=["pii"])
    world.asset("r")
    column = world.id_of("t.a")
    world.edge("r", column)
    world.marks.edges.append(EdgeMark(world.id_of("r"), column))
    for _ in range(2):
        assert decided.of(world, [column]) == {column: {"pii", "gdpr"}}
        world.settle()
    with closing(Propagator(migrated.url_of("lily_pipeline"))) as lake:
        lake.set_parents({(world.tenant, column): LakeNode(world.id_of("t"), "t.a", "a", "column")})
    assert decided.of(world, [column]) == {column: {"pii"}}
