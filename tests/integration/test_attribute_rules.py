"""Attributes travel by rules: the cases by name and whatever happens in any order, against PostgreSQL, not Spark."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from lily.lineage.attribute_rules import StatedValue
from lily.lineage.lake_nodes import LakeNode
from lily.lineage.marks import AssetMark, Marks
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.queries import query
from lily.store.postgres.recompute.attribute_drift import AttributeDrift, find_attribute_drift, repair_attributes
from tests.attribute_oracle import enriched as expected_enriched
from tests.attribute_oracle import replay_value
from tests.lineage_world import World
from tests.shared_stack import Stack
from tests.stored_lineage import expected_values, shown_graph, stored_holders, stored_rules, stored_values

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])
ENDS = st.lists(NAMES, min_size=2, max_size=2, unique=True)
TYPES = st.sampled_from(["derived-from", "used-in"])
ATTRIBUTES = st.sampled_from(["owner", "business_terms", "cost_centre"])
OWNERS = st.sampled_from(["ada", "bob", None])
LISTS = st.none() | st.lists(st.sampled_from(["x", "y", "z"]), unique=True, max_size=2)
RULES = st.sampled_from(["first", "second"])


@pytest.fixture
def world(parked: World, owner: psycopg.Connection) -> Iterator[World]:
    yield parked
    check(parked, owner)


def check(world: World, owner: psycopg.Connection) -> None:
    """What is stored is what the recomputation finds, each path leads to its origin, and people see what follows."""
    world.settle()
    assert world.marks.any is False
    stored = stored_values(owner, world.tenant)
    assert stored == expected_values(owner, world.tenant)
    world.state_what_rules_say()
    graph = shown_graph(owner, world.tenant)
    names: dict[str, dict[str, object] | None] = dict(
        owner.execute("select id::text, enriched from assets where tenant_id = %s", [world.tenant]).fetchall()
    )
    for about in stored_rules(owner, world.tenant):
        holders = stored_holders(owner, world.tenant, about.attribute)
        found = stored.get((about.key, about.attribute), {})
        for (asset, item), label in found.items():
            path = path_of(owner, world.tenant, asset, about.name, label.value)
            assert (path[-1], len(path)) == (asset, label.depth + 1)
            assert replay_value(path, item, graph, about, holders) == []
        for asset, enriched in names.items():
            labels = {item: label for (at, item), label in found.items() if at == asset}
            expected = expected_enriched(about, holders.get(asset, StatedValue()).source, labels)
            assert (enriched or {}).get(about.attribute) == expected


def path_of(owner: psycopg.Connection, tenant: str, asset: str, name: str, value: object) -> list[str]:
    rows = owner.execute(query("attributes/paths"), {"tenant": tenant, "id": asset}).fetchall()
    (path,) = [path for _, told, rule_name, _, _, path in rows if (rule_name, told) == (name, value)]
    return list(path)


def chain(world: World, *names: str) -> None:
    for name in names:
        world.asset(name)
    for start, end in pairwise(names):
        world.edge(start, end)
    world.settle()


def settled(world: World) -> int:
    world.settle()
    return world.state_what_rules_say()


def test_an_owner_reaches_what_has_none_and_goes_with_its_origin(world: World) -> None:
    chain(world, "a", "b", "c")
    world.rule("owners", "owner", "set-if-empty")
    world.asset("a", owner="ada")
    settled(world)
    assert [world.shown(name) for name in "abc"] == ["ada", "ada", "ada"]
    world.person("b", "upsert", attributes={"owner": "bob"})
    settled(world)
    assert [world.shown(name) for name in "abc"] == ["ada", "bob", "bob"]
    world.person("b", "upsert", attributes={"owner": None})
    world.asset("a", owner=None)
    settled(world)
    assert [world.shown(name) for name in "abc"] == [None, None, None]


def test_a_rule_that_goes_takes_what_it_stated_along_and_another_takes_its_place(world: World) -> None:
    chain(world, "a", "b", "c")
    world.rule("owners", "owner", "set-if-empty")
    world.asset("a", owner="ada")
    settled(world)
    world.unrule("owners")
    world.rule("near", "owner", "set-if-empty", max_depth=1)
    settled(world)
    assert [world.shown(name) for name in "abc"] == ["ada", "ada", None]
    world.unrule("near")
    settled(world)
    assert world.shown("b") is None


def test_a_rule_is_noticed_before_the_one_that_it_replaces_is_known_to_be_gone(world: World) -> None:
    chain(world, "a", "b")
    world.rule("old", "owner", "set-if-empty")
    world.asset("a", owner="ada")
    settled(world)
    world.unrule("old")
    world.rule("new", "owner", "set-if-empty")
    late, world.marks.rules = world.marks.rules, set()
    world.asset("a", owner="ada")  # a run for another reason sees the new rule
    settled(world)
    for name in sorted(late, reverse=True):
        world.marks.rules = {name}
        settled(world)
    assert world.shown("b") == "ada"


def test_a_rule_made_anew_for_another_attribute_leaves_nothing_of_the_old_one(world: World) -> None:
    chain(world, "a", "b")
    world.rule("one", "owner", "set-if-empty")
    world.asset("a", owner="ada", cost_centre=7)
    settled(world)
    world.unrule("one")
    world.rule("one", "cost_centre", "override")
    world.marks.rules.clear()
    world.asset("a", owner="ada", cost_centre=7)
    settled(world)
    world.marks.rules = {"one"}
    settled(world)
    assert (world.shown("b"), world.shown("b", "cost_centre")) == (None, 7)


def test_lists_grow_and_keep_what_the_source_has(world: World) -> None:
    chain(world, "a", "b", "c")
    world.rule("terms", "business_terms", "add")
    world.asset("a", business_terms=["z", "m"])
    world.asset("b", business_terms=["q"])
    settled(world)
    assert world.shown("b", "business_terms") == ["q", "m", "z"]
    assert world.shown("c", "business_terms") == ["m", "q", "z"]
    world.asset("b", business_terms=["q", "k"])
    settled(world)
    assert world.shown("b", "business_terms") == ["q", "k", "m", "z"]
    world.asset("b", business_terms=["k"])
    world.marks.rules.add("terms")  # both at once
    settled(world)
    assert world.shown("b", "business_terms") == ["k", "m", "z"]
    world.asset("a", business_terms=[])
    settled(world)
    assert world.shown("b", "business_terms") == ["k"]


def test_an_asset_that_comes_after_its_edges_is_told_what_had_passed_it(world: World, propagator: Propagator) -> None:
    world.edge("a", "b")
    world.edge("b", "c")
    world.edge("c", "d")
    world.rule("owners", "owner", "set-if-empty")
    world.asset("a", owner="ada")
    world.asset("d")
    assert settled(world) == 1
    assert world.shown("d") == "ada"
    world.asset("b")
    assert settled(world) == 1
    assert world.shown("b") == "ada"
    propagator.set_parents({(world.tenant, world.id_of("c")): LakeNode(qualified_name="c")})  # the lake alone knows it
    assert world.state_what_rules_say() == 1
    assert world.shown("c") == "ada"


def test_with_cut_nothing_leaves_a_deleted_asset(world: World) -> None:
    chain(world, "a", "b", "c")
    world.rule("owners", "owner", "override")
    world.asset("a", owner="ada")
    world.asset("c", owner="cyd")
    world.person("b", "delete")
    settled(world)
    assert world.shown("c") == "ada"
    world.on_delete("cut")
    settled(world)
    assert (world.shown("b"), world.shown("c")) == ("ada", "cyd")
    world.person("b", "restore")
    settled(world)
    assert world.shown("c") == "ada"


def test_marking_again_what_was_done_states_nothing_and_only_what_changed_is_looked_at(world: World) -> None:
    chain(world, "a", "b")
    world.rule("owners", "owner", "set-if-empty")
    world.asset("a", owner="ada")
    assert settled(world) == 1
    world.asset("a", owner="ada")
    world.edge("a", "b")
    world.marks.rules.add("owners")
    assert settled(world) == 0
    world.asset("a", owner="bob")
    late, world.marks.assets = world.marks.assets, [AssetMark(world.id_of("a"), attributes=frozenset({"other"}))]
    assert settled(world) == 0
    world.marks.assets = late
    assert settled(world) == 1


def test_what_went_wrong_is_found_by_a_recomputation_and_mended(
    world: World, stack: Stack, owner: psycopg.Connection
) -> None:
    chain(world, "a", "b", "c")
    world.rule("owners", "owner", "set-if-empty")
    world.rule("terms", "business_terms", "add")
    world.asset("a", owner="ada", business_terms=["x"])
    settled(world)
    assert find_attribute_drift(stack.database, world.tenant) == AttributeDrift(4, [])
    wrong = "update derived_attributes set depth = 9 where tenant_id = %s and asset_id = %s and rule = 'owners'"
    owner.execute(wrong, [world.tenant, world.id_of("b")])
    owner.execute("delete from derived_attributes where tenant_id = %s and rule = 'terms'", [world.tenant])
    owner.execute(
        "insert into derived_attributes values (%s, 'gone', %s, 'steward', '', '\"x\"', %s, 1, true)",
        [world.tenant, world.id_of("b"), world.id_of("a")],
    )
    drift = find_attribute_drift(stack.database, world.tenant)
    report = drift.report()
    assert (report["missing"], report["surplus"], report["different"]) == (2, 1, 1)
    repair_attributes(stack.database, drift)
    assert find_attribute_drift(stack.database, world.tenant) == AttributeDrift(4, [])


class Happenings(RuleBasedStateMachine):
    """What can happen to a graph and to rules."""

    def __init__(self, world: World, owner: psycopg.Connection) -> None:
        super().__init__()
        self.world, self.owner = world, owner

    @rule(name=NAMES, owner=OWNERS, terms=LISTS)
    def the_source_states_values(self, name: str, owner: str | None, terms: list[str] | None) -> None:
        self.world.asset(name, owner=owner, business_terms=terms, cost_centre=terms or owner)

    @rule(name=NAMES, owner=OWNERS, terms=LISTS)
    def a_person_states_values(self, name: str, owner: str | None, terms: list[str] | None) -> None:
        self.world.person(name, "upsert", attributes={"owner": owner, "business_terms": terms, "cost_centre": owner})

    @rule(ends=ENDS, kind=TYPES, flags=st.fixed_dictionaries({}, optional={"propagates": st.booleans()}))
    def an_edge_is_stated(self, ends: list[str], kind: str, flags: dict[str, bool]) -> None:
        self.world.edge(ends[0], ends[1], kind, **flags)

    @rule(ends=ENDS, more=ENDS)
    def two_edges_are_stated(self, ends: list[str], more: list[str]) -> None:
        self.world.edge(ends[0], ends[1])
        self.world.edge(more[0], more[1])

    @rule(ends=ENDS, kind=TYPES)
    def an_edge_is_deleted(self, ends: list[str], kind: str) -> None:
        self.world.unlink(ends[0], ends[1], kind)

    @rule(name=NAMES, operation=st.sampled_from(["delete", "restore"]))
    def a_person_deletes_or_restores(self, name: str, operation: str) -> None:
        self.world.person(name, operation)

    @rule(value=st.sampled_from(["keep", "cut"]))
    def the_tenant_decides_about_deletion(self, value: str) -> None:
        self.world.on_delete(value)

    @rule(
        name=RULES,
        attribute=ATTRIBUTES,
        mode=st.sampled_from(["set-if-empty", "override", "add"]),
        direction=st.sampled_from(["downstream", "downstream", "upstream", "both"]),
        max_depth=st.sampled_from([None, None, 1, 2]),
        edge_types=st.sampled_from([None, None, ["used-in"]]),
    )
    def a_rule_is_made_or_changed(  # noqa: PLR0917 - a rule has so many parts
        self,
        name: str,
        attribute: str,
        mode: str,
        direction: str,
        max_depth: int | None,
        edge_types: list[str] | None,
    ) -> None:
        taken = {one.attribute for one in stored_rules(self.owner, self.world.tenant) if one.key != name}
        if attribute in taken or (attribute == "owner" and mode == "add"):
            return
        self.world.rule(name, attribute, mode, direction=direction, max_depth=max_depth, edge_types=edge_types)

    @rule(name=RULES, asset=NAMES, terms=LISTS)
    def a_rule_is_told_again_with_a_change(self, name: str, asset: str, terms: list[str] | None) -> None:
        self.world.asset(asset, business_terms=terms, cost_centre=terms)
        self.world.marks.rules.add(name)

    @rule(name=RULES)
    def a_rule_goes(self, name: str) -> None:
        self.world.unrule(name)


class Prompt(Happenings):
    """Each is followed at once."""

    @invariant()
    def what_is_stored_is_what_a_recomputation_gives_and_people_see_it(self) -> None:
        check(self.world, self.owner)


class Late(Happenings):
    """The log tells of each some time later, in any order, while runs see all that is committed."""

    @rule(data=st.data())
    def some_of_it_is_followed(self, data: st.DataObject) -> None:
        told = self.world.marks
        late = Marks(
            assets=[mark for mark in told.assets if data.draw(st.booleans())],
            edges=[mark for mark in told.edges if data.draw(st.booleans())],
            rules={name for name in sorted(told.rules) if data.draw(st.booleans())},
            deletion=told.deletion and data.draw(st.booleans()),
        )
        told.assets = [mark for mark in told.assets if mark not in late.assets]
        told.edges = [mark for mark in told.edges if mark not in late.edges]
        told.rules -= late.rules
        told.deletion = told.deletion and not late.deletion
        settled(self.world)
        self.world.marks = late

    def teardown(self) -> None:
        check(self.world, self.owner)


@pytest.mark.campaign
@pytest.mark.timeout(200)
@pytest.mark.parametrize(("machine", "examples", "steps"), [(Prompt, 8, 20), (Late, 8, 25)])
def test_what_rules_derive_equals_a_recomputation_whatever_happens(  # noqa: PLR0917 - what a machine is made of
    make_tenant: Callable[[], tuple[str, str]],
    catalogue_writer: CatalogueWriter,
    propagator: Propagator,
    owner: psycopg.Connection,
    machine: type[Happenings],
    examples: int,
    steps: int,
) -> None:
    run_state_machine_as_test(
        lambda: machine(World(make_tenant()[0], catalogue_writer, propagator, owner), owner),  # type: ignore[arg-type]  # a factory serves as well, says hypothesis
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
