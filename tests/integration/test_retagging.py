"""What a dry run predicts about a tag is what happens when an asset is tagged or untagged, in random graphs."""

import asyncio
from itertools import pairwise
from random import Random

import pytest

from lily.lineage.retagging import Retagged
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache, read_tag_rules
from lily.store.postgres.policies.facts import Wanted, read_facts
from lily.store.postgres.propagation import retagging
from lily.store.postgres.propagation.retagging import Consequences, TagChange, consequences
from tests.api_database import opened
from tests.lineage_world import World
from tests.shared_stack import Stack

NAMES = "abcdefgh"
TAGS = ("pii", "near", "up", "wide", "plain")  # `plain` is not defined: it is inherited, and does not propagate


@pytest.fixture
def world(parked: World) -> World:
    return parked


class Predictions:
    """What a dry run reads, as the serving role."""

    def __init__(self, world: World, database_url: str) -> None:
        self._world, self._url = world, database_url

    def holders(self, tag: str) -> set[str]:
        """The assets on which the tag is effective, as decisions see it."""
        return asyncio.run(self._holders(tag))

    def followed(self, tag: str, *, add: set[str], remove: set[str]) -> Consequences:
        return asyncio.run(self._followed(TagChange(tag, add, remove)))

    async def _holders(self, tag: str) -> set[str]:
        async with opened(self._url) as database:
            rules = await read_tag_rules(database, self._world.tenant)
            wanted = Wanted(rules, rules.protective | {tag}, attributes=False)
            facts = await read_facts(database, self._world.tenant, list(NAMES), wanted)
        return {found.id for found in facts.values() if found is not None and tag in found.tags}

    async def _followed(self, change: TagChange) -> Consequences:
        async with opened(self._url) as database:
            rules = await read_tag_rules(database, self._world.tenant)
            reader = AssetReader(database, TagRulesCache(database))
            assets = await reader.find_many(self._world.tenant, sorted(change.add | change.remove))
            return await consequences(database, self._world.tenant, rules, change, assets)


def grow(world: World, chance: Random) -> None:
    """A random graph with a hierarchy, suppressions, deletions and masks."""
    world.define("near", max_depth=1)
    world.define("up", direction="upstream")
    world.define("wide", edge_types=["used-in", "influences"])
    world.on_delete(chance.choice(["keep", "cut"]))
    for place, name in enumerate(NAMES):
        above = {"parent": chance.choice(NAMES[:place])} if place and chance.random() < 0.4 else {}
        world.asset(name, tags=chance.sample(TAGS, chance.randrange(3)), **above)
    for _ in range(chance.randrange(12)):
        start, end = chance.sample(NAMES, 2)
        world.edge(start, end, chance.choice(["derived-from", "used-in", "influences"]), masking=chance.random() < 0.2)
    for _ in range(chance.randrange(3)):
        world.person(chance.choice(NAMES), "suppress", tag=chance.choice(TAGS), reason="because")
    if chance.random() < 0.5:
        world.person(chance.choice(NAMES), "delete")
    world.settle()


def test_what_a_tag_could_reach_is_followed_to_a_limit(
    world: World, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        world.asset(name)
    for start, end in pairwise(NAMES):
        world.edge(start, end)
    world.settle()
    monkeypatch.setattr(retagging, "MAX_REGION", 3)
    found = Predictions(world, stack.database_of("lily_api")).followed("pii", add={world.id_of("a")}, remove=set())
    assert not found.complete
    assert {world.id_of(name) for name in "abc"} <= found.retagged.gained
    assert world.id_of("h") not in found.retagged.gained


@pytest.mark.parametrize(("on_delete", "reached"), [("keep", "ab"), ("cut", "a")])
def test_a_deleted_asset_passes_a_tag_on_unless_deletion_cuts(
    world: World, stack: Stack, on_delete: str, reached: str
) -> None:
    world.on_delete(on_delete)
    for name in "ab":
        world.asset(name)
    world.edge("a", "b")
    world.person("a", "delete")
    world.settle()
    found = Predictions(world, stack.database_of("lily_api")).followed("pii", add={world.id_of("a")}, remove=set())
    assert found.retagged.gained == {world.id_of(name) for name in reached}


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(4, 16))]
)
def test_what_is_predicted_is_what_happens(world: World, stack: Stack, seed: int) -> None:
    chance = Random(seed)
    grow(world, chance)
    predictions = Predictions(world, stack.database_of("lily_api"))
    for _ in range(6):
        names, tag = chance.sample(NAMES, chance.choice([1, 1, 2])), chance.choice(TAGS)
        stating = world.stating(tag)
        add = {world.id_of(name) for name in names} - stating
        remove = {world.id_of(name) for name in names} & stating
        expected = predictions.followed(tag, add=add, remove=remove)
        before = predictions.holders(tag)
        for name in names:
            # As the source states it: the other tags of the asset go with it, and are not looked at.
            world.asset(name, tags=[tag] if world.id_of(name) in add else [])
        world.settle()
        after = predictions.holders(tag)
        happened = Retagged(frozenset(after - before), frozenset(before - after))
        assert expected == Consequences(happened, complete=True), (names, tag)
