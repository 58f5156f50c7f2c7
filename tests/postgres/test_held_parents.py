"""Tags come down from a parent that was replaced without authority, whatever changes first: parents, tags, the lake."""

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from lily.bus import topics
from lily.lineage.lake_nodes import LakeNode
from lily.lineage.marks import AssetMark
from lily.model import clock, ids
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.releases import Release
from lily.model.statements import Statement
from lily.store.postgres.propagation.propagator import Propagator
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

RECORD = Record(topics.ASSETS, 0, 0, clock.now(), None, None)
COLUMN = "people.email"


@pytest.fixture
def moved(make_world: Callable[[], World]) -> World:
    """`a` was below `old`, is below `new`, both without authority, and `b` is derived from it."""
    world = make_world()
    for name in ("old", "new", "b"):
        world.asset(name)
    world.edge("a", "b")
    world.authorised = False
    world.asset("a", parent="old")
    world.settle()
    world.asset("a", parent="new")
    world.settle()
    world.authorised = True
    return world


def derived(world: World) -> set[str]:
    world.settle()
    assert world.stored() == world.recomputed()
    return world.derived()


def test_a_tag_that_comes_later_comes_down_from_the_old_parent(moved: World) -> None:
    moved.asset("old", tags=["PII"])
    assert derived(moved) == {"b"}


def test_an_old_parent_stays_held_when_the_asset_is_stated_again(moved: World) -> None:
    moved.asset("old", tags=["PII"])
    moved.authorised = False
    for description in ("one", "two"):
        moved.asset("a", parent="new", tags=["raw"], description=description)
        assert derived(moved) == {"b"}


def test_an_old_parent_passes_nothing_down_once_its_end_is_confirmed(moved: World) -> None:
    moved.asset("old", tags=["PII"])
    assert derived(moved) == {"b"}
    release = Release("parent", moved.id_of("old"))
    about = Statement("source", "release", "a", None, {}, by="ada", authorised=True, release=release)
    event = AssetEvent(ids.event_id(), clock.now(), moved.tenant, about)
    moved.store.apply(topics.ASSETS, {}, [(RECORD, event)], [])
    moved.marks.assets.append(AssetMark(moved.id_of("a")))
    assert derived(moved) == set()


@pytest.fixture
def of_the_lake(make_world: Callable[[], World], migrated: Migrated) -> World:
    """A report is derived from a column of a table with PII. Only the lake has the column, and the graph its parent."""
    world = make_world()
    world.asset("people", tags=["PII"])
    for name in ("open", "report"):
        world.asset(name)
    world.edge(COLUMN, "report")
    world.settle()
    with closing(Propagator(migrated.url_of("lily_pipeline"))) as lake:
        node = LakeNode(world.id_of("people"), COLUMN, "email", "column")
        lake.set_parents({(world.tenant, world.id_of(COLUMN)): node})
    assert world.derived() == {"report"}
    return world


def test_a_column_that_is_moved_before_the_lake_was_read_is_one_of_both_tables(of_the_lake: World) -> None:
    of_the_lake.authorised = False
    for description in ("one", "two"):
        of_the_lake.typed("column", COLUMN, parent="open", description=description)
        of_the_lake.settle()
        assert of_the_lake.derived() == {"report"}


def test_a_source_with_authority_moves_a_column_before_the_lake_was_read(of_the_lake: World) -> None:
    of_the_lake.typed("column", COLUMN, parent="open")
    of_the_lake.settle()
    assert of_the_lake.derived() == set()


def test_a_person_with_authority_moves_a_column_before_the_lake_was_read(of_the_lake: World) -> None:
    of_the_lake.person(COLUMN, "upsert", attributes={"parent": "open"})
    of_the_lake.settle()
    assert of_the_lake.derived() == set()


def test_tags_keep_their_names_beside_those_that_are_held(
    make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    world = make_world()
    world.asset("a", tags=["PII"])
    world.enrich("a", tags=["GDPR"])
    world.authorised = False
    world.asset("a", tags=[])
    asked = 'select enriched_or_held(held, source, enriched, "user") from assets where tenant_id = %s and id = %s'
    assert owner.execute(asked, [world.tenant, world.id_of("a")]).fetchall() == [({"pii": "PII", "gdpr": "GDPR"},)]


def test_of_several_layers_that_hold_a_tag_the_persons_spelling_counts(
    make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    world = make_world()
    world.authorised = False
    for tags in (["Vip"], []):
        world.asset("a", tags=tags)
    for tags in (["VIP"], []):
        world.person("a", "upsert", attributes={"tags": tags})
    asked = 'select held_names(source, enriched, "user") from assets where tenant_id = %s and id = %s'
    assert owner.execute(asked, [world.tenant, world.id_of("a")]).fetchall() == [({"vip": "VIP"},)]
