"""What is listed as pending: each item once, with the tags that it alone lets pass, and nothing that has ended."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lily.api.protections.listing import names_of
from lily.lineage.pending import PendingId
from lily.model import ids
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.protection.kept import Kept
from lily.store.postgres.protection.pending import find_pending
from tests.api_database import with_database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.review_queue import ReviewQueue
from tests.postgres.test_pending import claims, run


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    """`a` has a tag that masking stops and one that it does not, and `b` may be derived from it."""
    world = make_world()
    world.define("secret", stopped_by_masking=True)
    world.define("open", stopped_by_masking=False)
    world.asset("a", tags=["secret", "open"])
    for name in ("b", "other"):
        world.asset(name)
    return world


@pytest.fixture
def queue(world: World, migrated: Migrated) -> ReviewQueue:
    return ReviewQueue(world, migrated.url_of("lily_api"))


def at(day: int) -> str:
    return f"2026-01-{day:02}T00:00:00.000000Z"


def job_run(world: World, day: int, *edges: tuple[str, str], masking: bool = False, **more: Any) -> None:
    event = claims(world, at(day), f"run {day}", *edges)
    masked = tuple(claim._replace(masking=masking) for claim in event.claims)
    run(world, replace(event, claims=masked, **more))
    world.settle()


def test_a_claim_that_is_held_masked_and_unmasked_is_listed_once_as_unmasked(world: World, queue: ReviewQueue) -> None:
    job_run(world, 1, ("a", "b"))
    job_run(world, 2, ("a", "b"), masking=True)
    job_run(world, 3, ("other", "b"))
    (item,) = queue.items(limit=1)
    assert (item.id.kind, item.tags) == ("claim", ("open", "secret"))


def test_an_edge_that_is_masked_without_authority_keeps_only_what_masking_stops(
    world: World, queue: ReviewQueue
) -> None:
    world.edge("a", "b")
    world.edge("a", "b", masking=True, authorised=False)
    world.settle()
    (item,) = queue.items()
    assert (item.id.kind, item.tags) == ("edge", ("secret",))


def test_a_persons_edge_that_a_job_masks_by_authority_is_not_pending_beside_a_claim(
    world: World, queue: ReviewQueue
) -> None:
    """Another job claimed it unmasked: confirming the end of that claim is enough."""
    world.edge("a", "b")
    job_run(world, 1, ("a", "b"), job_id=ids.asset_id(world.tenant, "other job"))
    job_run(world, 2, ("other", "b"), job_id=ids.asset_id(world.tenant, "other job"))
    job_run(world, 3, ("a", "b"), masking=True, authorised=True)
    assert [(item.id.kind, item.tags) for item in queue.items()] == [("claim", ("secret",))]


def test_an_edge_beside_it_that_lets_nothing_pass_keeps_nothing(world: World, queue: ReviewQueue) -> None:
    world.edge("a", "b")
    world.unlink("a", "b", authorised=False)
    world.edge("a", "b", "used-in")
    world.settle()
    (item,) = queue.items()
    assert queue.kept(item) == Kept(frozenset())
    world.unlink("a", "b", "used-in")
    world.settle()
    assert queue.kept(item) == Kept(frozenset({world.id_of("b")}))


def test_a_parent_is_not_pending_once_authority_ended_it_even_before_tags_follow(
    world: World, queue: ReviewQueue
) -> None:
    world.asset("t", parent="a")
    world.edge("t", "b")
    world.settle()
    world.authorised = False
    world.asset("t", parent="other")
    world.settle()
    assert [item.id.kind for item in queue.items()] == ["parent"]
    world.authorised = True
    world.asset("t", parent="other")
    assert queue.items() == []


@pytest.mark.parametrize(("on_delete", "found"), [("keep", 0), ("cut", 1)])
def test_a_deletion_can_be_decided_about_only_where_deletion_cuts(
    world: World, migrated: Migrated, on_delete: str, found: int
) -> None:
    world.edge("a", "b")
    world.on_delete(on_delete)
    world.authorised = False
    world.person("a", "delete")
    world.settle()

    async def story(database: Any) -> Any:
        rules = await TagRulesCache(database).get(world.tenant)
        return await find_pending(database, world.tenant, rules, [PendingId("deletion", (world.id_of("a"),))])

    assert len(with_database(migrated.url_of("lily_api"), story)) == found


@pytest.mark.parametrize("view", ["s.v", "v"])
def test_what_only_edges_have_named_and_the_definition_of_a_view_have_names(
    world: World, queue: ReviewQueue, migrated: Migrated, view: str
) -> None:
    named, definition = f"{view}.email", f"sql-definition:{view}"
    about: dict[str, Any] = {"job_id": ids.asset_id(world.tenant, definition), "names": ("a", named, "other")}
    job_run(world, 1, ("a", named), **about)
    job_run(world, 2, ("other", named), **about)
    (item,) = queue.items()
    found = with_database(migrated.url_of("lily_api"), lambda database: names_of(database, world.tenant, [item], {}))
    assert found == {world.id_of(named): named, ids.asset_id(world.tenant, definition): definition}
