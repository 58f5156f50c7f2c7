"""The explanation of a tag says that it came along an edge that is held, if no other let it pass."""

from collections.abc import Callable
from typing import Any

import pytest

from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.propagation.held_steps import mark_held
from lily.store.postgres.propagation.tag_paths import derivations
from tests.api_database import with_database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated


class Explained:
    """A tenant in which `b` has the tag `secret` by way of `a`."""

    def __init__(self, world: World, url: str) -> None:
        self.world, self._url = world, url
        world.define("secret", stopped_by_masking=True)
        world.asset("a", tags=["secret"])
        world.asset("b")
        world.edge("a", "b")

    def held(self) -> dict[str, bool]:
        """By the kind of the derivation, whether it is held."""
        self.world.settle()

        async def story(database: Any) -> Any:
            reader = AssetReader(database, TagRulesCache(database))
            (asset,) = (await reader.find_many(self.world.tenant, [self.world.id_of("b")])).values()
            return await mark_held(database, self.world.tenant, await derivations(database, asset))

        return {one.kind: one.held for one in with_database(self._url, story)}


@pytest.fixture
def explained(make_world: Callable[[], World], migrated: Migrated) -> Explained:
    return Explained(make_world(), migrated.url_of("lily_api"))


def test_an_edge_that_is_shown_is_not_held(explained: Explained) -> None:
    assert explained.held() == {"propagated": False}


@pytest.mark.parametrize("end", ["deleted", "blocked", "masked"])
def test_an_edge_that_ended_without_authority_is_held(explained: Explained, end: str) -> None:
    if end == "deleted":
        explained.world.unlink("a", "b", authorised=False)
    else:
        settings: dict[str, Any] = {"propagates": False} if end == "blocked" else {"masking": True}
        explained.world.edge("a", "b", authorised=False, **settings)
    assert explained.held() == {"propagated": True}


def test_a_step_with_another_edge_that_is_shown_is_not_held(explained: Explained) -> None:
    explained.world.edge("a", "b", "used-in")
    explained.world.unlink("a", "b", authorised=False)
    assert explained.held() == {"propagated": False}


def test_an_edge_that_the_tag_does_not_follow_does_not_count(explained: Explained) -> None:
    explained.world.define("secret", stopped_by_masking=True, direction="upstream")
    explained.world.edge("b", "a")
    explained.world.unlink("b", "a", authorised=False)
    assert explained.held() == {"propagated": True}


def test_what_comes_down_the_hierarchy_does_not_need_the_edge(explained: Explained) -> None:
    explained.world.unlink("a", "b", authorised=False)
    explained.world.asset("b", parent="a")
    assert explained.held() == {"propagated": False, "inherited": False}
