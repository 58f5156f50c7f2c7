"""What is pending has an author, also if the tag was never shown: it came with what ended it, or later."""

from collections.abc import Callable

import pytest

from lily.bus import topics
from lily.model import clock
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.store.postgres.catalogue.history import ended_tags
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.review_queue import ReviewQueue

RECORD = Record(topics.ASSETS, 0, 0, clock.now(), None, None)


def at(day: int) -> str:
    return f"2026-01-{day:02}T00:00:00.000000Z"


def stated(world: World, day: int, by: str, tags: list[str], layer: str = "source") -> AssetEvent:
    about = {"entity_type": "table"} if layer == "source" else {}
    data = {"layer": layer, "qualified_name": "a", "attributes": {"name": "a", "tags": tags}, "by": by, **about}
    return AssetEvent(f"{by} {day}", at(day), world.tenant, read_statement(data, tenant=world.tenant))


def apply(world: World, *events: AssetEvent) -> None:
    world.store.apply(topics.ASSETS, {}, [(RECORD, event) for event in events], [])


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


def authors(migrated: Migrated, world: World) -> tuple[str | None, dict[str, str]]:
    (item,) = ReviewQueue(world, migrated.url_of("lily_api")).items()
    held = [("source", "pii")]
    explained = migrated.as_api(lambda database: ended_tags(database, world.tenant, world.id_of("a"), held))  # type: ignore[arg-type]
    assert explained["source", "pii"]["by"] == item.ended_by
    return item.ended_by, {"at": item.ended_at or ""}


def test_a_tag_that_came_with_its_end_in_one_batch(migrated: Migrated, world: World) -> None:
    apply(world, stated(world, 2, "weak", []), stated(world, 1, "crawler", ["PII"]))
    assert authors(migrated, world) == ("weak", {"at": at(2)})


def test_a_tag_that_came_later_than_its_end(migrated: Migrated, world: World) -> None:
    apply(world, stated(world, 2, "weak", []))
    apply(world, stated(world, 1, "crawler", ["PII"]))
    assert authors(migrated, world) == ("weak", {"at": at(2)})


def test_a_tag_that_was_shown_is_ended_by_the_statement_that_left_it_out(migrated: Migrated, world: World) -> None:
    apply(world, stated(world, 1, "crawler", ["PII"]))
    apply(world, stated(world, 2, "weak", ["raw"]))
    apply(world, stated(world, 3, "late", ["raw", "cooked"]))
    apply(world, stated(world, 4, "ada", ["mine"], "user"))
    assert authors(migrated, world) == ("weak", {"at": at(2)})


def test_a_layer_that_never_had_the_tag_did_not_end_it(migrated: Migrated, world: World) -> None:
    apply(world, stated(world, 2, "weak", []))
    apply(world, stated(world, 1, "crawler", ["PII"]))
    apply(world, stated(world, 4, "ada", ["mine"], "user"))
    assert authors(migrated, world) == ("weak", {"at": at(2)})
