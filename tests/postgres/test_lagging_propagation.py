"""While propagation lags, decisions see at least the tags that it will bring: from the commit of a change on."""

import random
from collections.abc import Callable

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lily.model import ids
from tests.lineage_world import World
from tests.postgres.decided_tags import DecidedTags
from tests.stored_lineage import stored_definitions, stored_graph
from tests.tag_oracle import recompute

NAMES = ("a", "b", "c", "d", "e", "f", "g")
TAGS = ("pii", "gdpr", "secret")
TYPES = ("derived-from", "used-in", "influences")


def change(world: World, chance: random.Random) -> None:
    """One random statement about the graph, its tags or what tags mean."""
    name, other = chance.sample(NAMES, 2)
    tag, kind = chance.choice(TAGS), chance.choice(TYPES)
    steps: list[Callable[[], object]] = [
        lambda: world.asset(name, tags=chance.sample(TAGS, chance.randint(0, 2))),
        lambda: world.edge(name, other, kind, propagates=chance.random() < 0.8, masking=chance.random() < 0.3),
        lambda: world.edge(name, other, kind),
        lambda: world.edge(other, name, kind),
        lambda: world.unlink(name, other, kind),
        lambda: world.person(name, chance.choice(["tag", "untag"]), tag=tag),
        lambda: world.person(name, "suppress", tag=tag, reason="because"),
        lambda: world.person(name, "unsuppress", tag=tag),
        lambda: world.person(name, chance.choice(["delete", "restore"])),
        lambda: world.asset(name, parent=chance.choice([None, other])),
        lambda: world.define(
            tag,
            propagates=chance.random() < 0.8,
            direction=chance.choice(["downstream", "upstream", "both"]),
            max_depth=chance.choice([None, 1, 2]),
            edge_types=chance.choice([None, ["used-in"], ["used-in", "influences"]]),
            stopped_by_masking=chance.random() < 0.5,
        ),
        lambda: world.on_delete(chance.choice(["keep", "cut"])),
    ]
    chance.choice(steps)()


@pytest.mark.campaign
@settings(max_examples=60)
@given(chance=st.randoms(use_true_random=False), before=st.integers(0, 12), after=st.integers(1, 12))
def test_a_decision_is_never_more_permissive_than_after_propagation(
    make_world: Callable[[], World], decided: DecidedTags, chance: random.Random, before: int, after: int
) -> None:
    world = make_world()
    for _ in range(before):
        change(world, chance)
    world.settle()
    for _ in range(after):
        change(world, chance)
    lagging = decided.of(world, NAMES)
    world.settle()
    settled = decided.of(world, NAMES)
    missing = {name: tags - lagging.get(name, set()) for name, tags in settled.items()}
    assert {name: tags for name, tags in missing.items() if tags} == {}
    # An asset that is not stored is known as the end of an edge. As the parent of one it is known later, without tags.
    assert {name for name in settled.keys() - lagging.keys() if settled[name]} == set()


@pytest.mark.campaign
@settings(max_examples=30)
@given(chance=st.randoms(use_true_random=False), steps=st.integers(1, 20))
def test_what_would_arrive_is_exactly_what_propagation_derives(
    make_world: Callable[[], World], owner: psycopg.Connection, chance: random.Random, steps: int
) -> None:
    world = make_world()
    for name in NAMES:  # all are known, so nothing has to be assumed
        world.asset(name)
    for _ in range(steps):
        change(world, chance)
    asked = [world.id_of(name) for name in NAMES]
    statement = (
        "select w.asset_id::text, w.tag from tenants t, arriving_tags(t.id, t.on_delete = 'cut', %s::uuid[]) w "
        "left join assets a on a.tenant_id = %s and a.id = w.asset_id "
        "where t.id = %s and not w.tag = any (coalesce(a.stated, '{}'))"
    )
    arriving = set(owner.execute(statement, [asked, world.tenant, world.tenant]).fetchall())
    derived = recompute(stored_graph(owner, world.tenant), stored_definitions(owner, world.tenant))
    assert arriving == {(one.asset, one.tag) for one in derived}


def test_a_parent_that_nobody_has_stated_has_no_tags_before_and_after_it_is_in_the_graph(
    make_world: Callable[[], World], decided: DecidedTags
) -> None:
    world = make_world()
    world.edge("a", "b")
    world.asset("a", parent="c")
    before = decided.of(world, ["c"])
    world.settle()
    assert (before, decided.of(world, ["c"])) == ({}, {"c": frozenset()})


def test_an_edge_tags_its_target_from_its_commit_on(make_world: Callable[[], World], decided: DecidedTags) -> None:
    world = make_world()
    world.asset("people", tags=["PII"])
    world.asset("report")
    world.settle()
    world.edge("people", "report")
    assert decided.of(world, ["report"])["report"] == {"pii"}


def test_past_the_bound_every_tag_that_propagates_arrives(
    make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    world = make_world()
    for number in range(6):
        world.asset(f"n{number}")
    for number in range(5):
        world.edge(f"n{number}", f"n{number + 1}")
    last = world.id_of("n5")

    def arriving(bound: int) -> set[str]:
        statement = "select tag from arriving_tags(%s, false, array[%s]::uuid[], %s)"
        return {tag for (tag,) in owner.execute(statement, [world.tenant, last, bound])}

    assert arriving(10) == set()  # two tags, five assets beside it
    assert arriving(9) == {"pii", "gdpr"}


def test_an_unknown_asset_on_the_way_passes_on_every_tag(make_world: Callable[[], World], decided: DecidedTags) -> None:
    """It may be a column that only the lake has, of a table with tags."""
    world = make_world()
    world.asset("report")
    world.edge("lake.people.mail", "report")
    assert decided.of(world, ["report"])["report"] == {"pii", "gdpr"}


class TestWhenItLags:
    @pytest.fixture
    def world(self, make_world: Callable[[], World], owner: psycopg.Connection) -> World:
        owner.execute("delete from applied")
        _publish(owner, 0)
        return make_world()

    def test_not_without_a_change(self, world: World, decided: DecidedTags) -> None:
        assert not decided.lags(world)

    def test_not_after_a_plain_change(self, world: World, decided: DecidedTags) -> None:
        world.asset("orders", description="all of them")
        world.asset("orders", description="all of them, since 2020")
        assert not decided.lags(world)

    def test_not_after_another_tenants_change(
        self, world: World, make_world: Callable[[], World], decided: DecidedTags
    ) -> None:
        make_world().asset("people", tags=["PII"])
        assert not decided.lags(world)

    @pytest.mark.parametrize("published", [False, True])
    @pytest.mark.parametrize("what", ["tag", "edge", "parent", "deletion", "suppression", "new asset in the graph"])
    def test_from_the_commit_until_propagation_has_read_it(
        self, world: World, decided: DecidedTags, owner: psycopg.Connection, what: str, *, published: bool
    ) -> None:
        world.asset("people")
        world.edge("orders", "people")
        _publish(owner, 7)
        _read(owner, 7)
        assert not decided.lags(world)
        {
            "tag": lambda: world.asset("people", tags=["PII"]),
            "edge": lambda: world.edge("people", "report"),
            "parent": lambda: world.asset("people", parent="schema"),
            "deletion": lambda: world.person("people", "delete"),
            "suppression": lambda: world.person("people", "suppress", tag="pii", reason="because"),
            "new asset in the graph": lambda: world.asset("orders"),
        }[what]()
        if published:
            _publish(owner, 9)
            _read(owner, 8)
        assert decided.lags(world)
        _publish(owner, 9)
        _read(owner, 9)
        assert not decided.lags(world)

    def test_after_a_batch_that_was_committed_late(
        self, world: World, decided: DecidedTags, owner: psycopg.Connection
    ) -> None:
        """Its id is smaller than that of a batch that has been propagated already."""
        (early,) = owner.execute("insert into batches default values returning id").fetchone() or (0,)
        world.asset("people", tags=["PII"])
        owner.execute("update batches set published_at = now(), ends = %s where id > %s", [_ends(3), early])
        owner.execute("update changes set batch_id = %s where tenant_id = %s", [early, world.tenant])
        _read(owner, 3)
        assert decided.lags(world)
        published = "update batches set published_at = now() - interval '1 hour', ends = %s where id = %s"
        owner.execute(published, [_ends(4), early])
        assert decided.lags(world)
        _read(owner, 4)
        assert not decided.lags(world)

    def test_while_events_are_parked(self, world: World, decided: DecidedTags) -> None:
        with world.parked():
            assert decided.lags(world)
        assert not decided.lags(world)

    def test_until_a_dead_letter_of_propagation_is_replayed(
        self, world: World, decided: DecidedTags, owner: psycopg.Connection
    ) -> None:
        insert = (
            'insert into dead_letters (batch_id, tenant_id, topic, partition, "offset", errors) '
            "values (0, %s, %s, 0, nextval('changes_position_seq'), '[]')"
        )
        owner.execute(insert, [world.tenant, "jobs"])
        assert not decided.lags(world)
        owner.execute(insert, [world.tenant, "governance-events@propagation"])
        assert decided.lags(world)
        owner.execute("update dead_letters set replayed_at = now() where tenant_id = %s", [world.tenant])
        assert not decided.lags(world)

    def test_while_the_lake_has_to_be_asked_for_a_parent(
        self, world: World, decided: DecidedTags, owner: psycopg.Connection
    ) -> None:
        owner.execute(
            "insert into graph_nodes (tenant_id, id, awaits_lake) values (%s, %s, true)", [world.tenant, ids.event_id()]
        )
        assert decided.lags(world)

    def test_while_the_lake_has_to_be_asked_for_the_parent_of_an_asset(
        self, world: World, decided: DecidedTags, owner: psycopg.Connection
    ) -> None:
        world.asset("people")
        world.asset("report")
        world.edge("people", "report")
        _publish(owner, 7)
        _read(owner, 7)
        assert not decided.lags(world)
        owner.execute("update assets set awaits_lake = true where id = %s", [world.id_of("people")])
        assert decided.lags(world)
        assert decided.of(world, ["report"])["report"] == {"pii", "gdpr"}  # the parent may have any of them
        owner.execute("update assets set awaits_lake = false where id = %s", [world.id_of("people")])
        assert decided.of(world, ["report"])["report"] == set()

    @pytest.mark.parametrize(("kind", "lags"), [("tag", True), ("setting", True), ("policy", False)])
    def test_after_a_change_of_what_tags_mean(
        self, world: World, decided: DecidedTags, owner: psycopg.Connection, kind: str, *, lags: bool
    ) -> None:
        insert = (
            "with batch as (insert into batches default values returning id) "
            "insert into decisions (batch_id, tenant_id, kind, name, by) select id, %s, %s, 'x', 'ada' from batch"
        )
        owner.execute(insert, [world.tenant, kind])
        assert decided.lags(world) is lags

    def test_when_more_batches_are_on_their_way_than_it_looks_at(
        self, world: World, decided: DecidedTags, owner: psycopg.Connection
    ) -> None:
        _publish(owner, 0)
        _read(owner, 1_000)  # all that earlier tests have published
        for _ in range(64):
            owner.execute("insert into batches default values")
        assert not decided.lags(world)
        owner.execute("insert into batches default values")
        assert decided.lags(world)


def _ends(end: int) -> str:
    return f'{{"governance-events": {{"0": {end}, "1": 0}}}}'


def _publish(owner: psycopg.Connection, end: int) -> None:
    """As the relay does: everything, up to this offset of the topic."""
    owner.execute("update batches set published_at = now(), ends = %s where published_at is null", [_ends(end)])


def _read(owner: psycopg.Connection, offset: int) -> None:
    """As the propagation reaction does."""
    owner.execute(
        "insert into applied (topic, partition, next_offset) values ('governance-events@propagation', 0, %s) "
        "on conflict (topic, partition) do update set next_offset = excluded.next_offset",
        [offset],
    )
