"""Whatever is written without authority, in whatever order of times, no asset loses a protective tag; with authority or
without, what is stored equals the recomputation, and explains itself."""

import asyncio
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from lily.model import clock, layers
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache
from tests.api_database import opened
from tests.lineage_world import World
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.migrated import Migrated

ASSETS = ("a", "b", "c", "d", "e", "f")
NAMES = st.sampled_from(ASSETS)
TAGS = st.sampled_from(["pii", "gdpr", "secret"])
PAIRS = st.lists(NAMES, min_size=2, max_size=2, unique=True)
MINUTES = st.sampled_from([0, 0, 0, -30, -5, 4])  # late, now, or from a clock that is ahead


class Estate(RuleBasedStateMachine):
    """Tags, parents, deletions and new edges of a small tenant; which of it has authority is a subclass's to decide."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        world.define("secret")

    def state(self, minutes: int) -> World:
        """The world, about to state something at a time."""
        moment = datetime.now(UTC) + timedelta(minutes=minutes)
        self.world.time = clock.stamp(moment)
        return self.world

    @rule(name=NAMES, tags=st.lists(TAGS, unique=True, max_size=2), minutes=MINUTES)
    def the_source_states_tags(self, name: str, tags: list[str], minutes: int) -> None:
        self.state(minutes).asset(name, tags=tags)

    @rule(name=NAMES, minutes=MINUTES)
    def the_source_states_no_tags(self, name: str, minutes: int) -> None:
        self.state(minutes).asset(name, tags=None)

    @rule(name=NAMES, tag=TAGS, operation=st.sampled_from(["tag", "untag"]), minutes=MINUTES)
    def a_person_edits_a_tag(self, name: str, tag: str, operation: str, minutes: int) -> None:
        self.state(minutes).person(name, operation, tag=tag)

    @rule(name=NAMES, tags=st.lists(TAGS, unique=True, max_size=2), minutes=MINUTES)
    def a_person_states_all_tags(self, name: str, tags: list[str], minutes: int) -> None:
        self.state(minutes).person(name, "upsert", attributes={"tags": tags})

    @rule(name=NAMES, tags=st.lists(TAGS, unique=True, max_size=2))
    def a_rule_enriches_tags(self, name: str, tags: list[str]) -> None:
        self.state(0).enrich(name, tags=tags)

    @rule(ends=PAIRS, minutes=MINUTES)
    def the_source_moves(self, ends: list[str], minutes: int) -> None:
        self.state(minutes).asset(ends[0], parent=ends[1])

    @rule(name=NAMES, minutes=MINUTES)
    def the_source_states_no_parent(self, name: str, minutes: int) -> None:
        self.state(minutes).asset(name, parent=None)

    @rule(name=NAMES, parent=st.none() | NAMES)
    def a_person_moves(self, name: str, parent: str | None) -> None:
        if name != parent:
            self.state(0).person(name, "upsert", attributes={"parent": parent})

    @rule(name=NAMES, operation=st.sampled_from(["delete", "restore"]))
    def a_person_deletes_or_restores(self, name: str, operation: str) -> None:
        self.state(0).person(name, operation)

    @rule(ends=PAIRS, kind=st.sampled_from(["derived-from", "influences"]))
    def an_edge_is_drawn(self, ends: list[str], kind: str) -> None:
        self.world.edge(ends[0], ends[1], kind)


class WithoutAuthority(Estate):
    def __init__(self, world: World, decided: DecidedTags, effective: Callable[[World], dict[str, set[str]]]) -> None:
        super().__init__(world)
        self._decided, self._effective = decided, effective
        self._known: Mapping[str, AbstractSet[str]] = {}
        world.authorised = False
        world.on_delete("cut")

    @initialize(
        tagged=st.lists(st.tuples(NAMES, TAGS), min_size=1, max_size=3),
        placed=st.lists(PAIRS, min_size=1, max_size=3),
        authorised=st.booleans(),
    )
    def some_are_tagged_and_below_others(
        self,
        tagged: list[tuple[str, str]],
        placed: list[list[str]],
        authorised: bool,  # noqa: FBT001
    ) -> None:
        self.world.authorised = authorised
        for name, tag in tagged:
            self.state(-60).asset(name, tags=[tag])
        for child, parent in placed:
            self.state(-60).asset(child, parent=parent)
        self.world.authorised = False

    @invariant()
    def no_asset_loses_a_protective_tag(self) -> None:
        """Decisions may see more than there is, while something is unknown; so what is read is what is remembered."""
        self._compare("while propagation lags", self._decided.of(self.world, ASSETS))
        self.world.settle()
        self._compare("in decisions", self._decided.of(self.world, ASSETS))
        shown = self._effective(self.world)
        self._compare("in reads", shown)
        self._known = shown

    def _compare(self, where: str, found: Mapping[str, AbstractSet[str]]) -> None:
        lost = {name: sorted(tags - found.get(name, set())) for name, tags in self._known.items()}
        assert {name: tags for name, tags in lost.items() if tags} == {}, where


class WithAndWithoutAuthority(Estate):
    @rule(authorised=st.booleans())
    def who_writes_next(self, authorised: bool) -> None:  # noqa: FBT001
        self.world.authorised = authorised

    @rule(name=NAMES, tag=TAGS, suppress=st.booleans())
    def a_person_suppresses(self, name: str, tag: str, suppress: bool) -> None:  # noqa: FBT001
        about = {"reason": "because"} if suppress else {}
        self.state(0).person(name, "suppress" if suppress else "unsuppress", tag=tag, **about)

    @rule(value=st.sampled_from(["keep", "cut"]))
    def the_tenant_decides_about_deletion(self, value: str) -> None:
        self.world.on_delete(value)

    @invariant()
    def what_is_stored_is_what_a_recomputation_gives_and_explains_itself(self) -> None:
        self.world.settle()
        assert self.world.stored() == self.world.recomputed()
        assert self.world.unexplained() == []


@pytest.fixture(scope="session")
def effective(migrated: Migrated) -> Callable[[World], dict[str, set[str]]]:
    """The effective tags that a read shows."""

    async def read(world: World) -> dict[str, set[str]]:
        async with opened(migrated.url_of("lily_api")) as database:
            reader = AssetReader(database, TagRulesCache(database))
            found = await reader.find_many(world.tenant, [world.id_of(name) for name in ASSETS])
        return {asset.qualified_name: asset.effective for asset in found.values()}

    return lambda world: asyncio.run(read(world))


def run(machine: Callable[[], RuleBasedStateMachine], examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,  # type: ignore[arg-type]  # a factory serves as well, says hypothesis
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink takes minutes
        ),
    )


@pytest.mark.timeout(400)
def test_without_authority_no_asset_loses_a_protective_tag(
    make_world: Callable[[], World], decided: DecidedTags, effective: Callable[[World], dict[str, set[str]]]
) -> None:
    run(lambda: WithoutAuthority(make_world(), decided, effective), 5, 16)


@pytest.mark.campaign
@pytest.mark.timeout(1800)
def test_a_longer_search_finds_no_asset_that_loses_a_protective_tag(
    make_world: Callable[[], World], decided: DecidedTags, effective: Callable[[World], dict[str, set[str]]]
) -> None:
    run(lambda: WithoutAuthority(make_world(), decided, effective), 40, 24)


@pytest.mark.timeout(400)
def test_with_or_without_authority_what_is_stored_equals_the_recomputation(make_world: Callable[[], World]) -> None:
    run(lambda: WithAndWithoutAuthority(make_world()), 8, 20)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("forgotten", ["hold_tags", "hold_parents"])
@pytest.mark.campaign
def test_the_machine_notices_a_merge_that_forgets_what_is_held(
    monkeypatch: pytest.MonkeyPatch,
    make_world: Callable[[], World],
    decided: DecidedTags,
    effective: Callable[[World], dict[str, set[str]]],
    forgotten: str,
) -> None:
    monkeypatch.setattr(layers, forgotten, lambda *_: None)
    with pytest.raises(AssertionError, match=r"in decisions|in reads|while propagation lags"):
        run(lambda: WithoutAuthority(make_world(), decided, effective), 100, 16)
