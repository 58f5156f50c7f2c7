"""Attributes that propagate by a rule: the cases of each mode, and incremental updates against the recomputation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.lineage.attribute_recomputation import DerivedByItem, recompute_attribute
from lily.lineage.attribute_region import Arcs, recompute_region
from lily.lineage.attribute_rules import (
    MAX_ITEM,
    WHOLE_VALUE,
    AttributeRule,
    DerivedValue,
    DerivedValues,
    Mode,
    StatedValue,
    enriched_value,
    items_of,
    rule_problem,
)
from lily.lineage.definitions import Direction, OnDelete
from lily.lineage.graph import Edge, Graph
from lily.model.values import MAX_ITEMS
from tests.attribute_oracle import expected_values, followed, replay_value

ASSETS = "abcdefg"
FILL = AttributeRule("r", "r", "owner", "set-if-empty")
ADD = AttributeRule("r", "r", "terms", "add")
OVERRIDE = AttributeRule("r", "r", "owner", "override")


def graph_of(*pairs: str) -> Graph:
    return Graph(edges={Edge(pair[0], pair[1], "derived-from") for pair in pairs})


def values(derived: DerivedByItem) -> dict[str, Any]:
    return {asset: label.value for (asset, _), label in derived.items()}


def added(derived: DerivedByItem, asset: str) -> set[str]:
    return {label.value for (at, _), label in derived.items() if at == asset}


@dataclass
class Known:
    """A graph in memory, with the values stated and derived in it."""

    graph: Graph
    values: Mapping[str, StatedValue]
    before: DerivedByItem = field(default_factory=dict)

    def arcs_from(self, rule: AttributeRule, assets: Collection[str]) -> Arcs:
        return {arc for arc in followed(self.graph, rule) if arc[0] in assets}

    def arcs_to(self, rule: AttributeRule, assets: Collection[str]) -> Arcs:
        return {arc for arc in followed(self.graph, rule) if arc[1] in assets}

    def stated_values(self, rule: AttributeRule, assets: Collection[str]) -> Mapping[str, StatedValue]:
        del rule
        return {asset: self.values[asset] for asset in assets if asset in self.values}

    def cut(self, assets: Collection[str]) -> set[str]:
        return self.graph.deleted & set(assets) if self.graph.on_delete == "cut" else set()

    def derived_values(self, rule: AttributeRule, assets: Collection[str]) -> Mapping[str, DerivedValues]:
        del rule
        found: dict[str, dict[str, DerivedValue]] = {}
        for (asset, item), label in self.before.items():
            if asset in assets:
                found.setdefault(asset, {})[item] = label
        return found


def incremental(known: Known, rule: AttributeRule, seeds: Collection[str]) -> DerivedByItem:
    region, labels = recompute_region(rule, seeds, known)
    kept = {key: label for key, label in known.before.items() if key[0] not in region}
    return kept | {(asset, item): label for asset, items in labels.items() for item, label in items.items()}


single = st.sampled_from([None, "ada", "bob", ""])
lists = st.none() | st.lists(st.sampled_from(["x", "y", "z"]), max_size=2, unique=True) | st.just("x")
edges = st.builds(
    Edge,
    st.sampled_from(ASSETS),
    st.sampled_from(ASSETS),
    st.sampled_from(["derived-from", "used-in", "influences"]),
    st.booleans(),
    st.booleans(),
).filter(lambda edge: edge.from_id != edge.to_id)
rules = st.builds(
    AttributeRule,
    st.just("r"),
    st.just("r"),
    st.just("owner"),
    st.sampled_from(get_args(Mode)),
    st.sampled_from(get_args(Direction)),
    st.none() | st.integers(1, 3),
    st.none() | st.just(frozenset({"used-in"})),
)


@st.composite
def worlds(draw: st.DrawFn) -> Known:
    graph = Graph(
        edges=draw(st.sets(edges, max_size=12)),
        deleted=draw(st.sets(st.sampled_from(ASSETS), max_size=3)),
        on_delete=draw(st.sampled_from(get_args(OnDelete))),
    )
    held = st.builds(StatedValue, single | lists, single | lists)
    return Known(graph, draw(st.dictionaries(st.sampled_from(ASSETS), held, max_size=5)))


@given(worlds(), rules)
def test_recomputing_every_asset_equals_the_recomputation_and_every_path_can_be_replayed(
    known: Known, rule: AttributeRule
) -> None:
    expected = expected_values(known.graph, rule, known.values)
    assert recompute_attribute(known.graph, rule, known.values) == expected
    assert incremental(known, rule, ASSETS) == expected
    for (asset, item), label in expected.items():
        path = [asset, label.via]
        while (path[-1], item) in expected:
            path.append(expected[path[-1], item].via)
        assert len(path) == label.depth + 1
        assert replay_value(path[::-1], item, known.graph, rule, known.values) == []


@given(worlds(), rules, st.data())
def test_only_the_assets_that_a_change_can_reach_have_to_be_recomputed(
    known: Known, rule: AttributeRule, data: st.DataObject
) -> None:
    known.before = expected_values(known.graph, rule, known.values)
    asset = data.draw(st.sampled_from(ASSETS))
    toggled = data.draw(st.sets(edges, max_size=2))
    seeds = {asset} | {end for edge in toggled for end in (edge.from_id, edge.to_id)}
    if known.graph.on_delete == "cut":
        seeds |= {end for _, end in known.arcs_from(rule, {asset})}  # the asset's deletion decided about its arcs
    deleted = known.graph.deleted ^ ({asset} if data.draw(st.booleans()) else set())
    known.graph = replace(known.graph, edges=known.graph.edges ^ toggled, deleted=deleted)
    known.values = {**known.values, asset: StatedValue(data.draw(single | lists), data.draw(single | lists))}
    assert incremental(known, rule, seeds) == expected_values(known.graph, rule, known.values)


def test_of_two_equally_near_neighbours_the_smaller_id_is_recorded() -> None:
    derived = recompute_attribute(
        graph_of("ac", "bd", "ce", "de", "ef"), FILL, {"a": StatedValue("ada"), "b": StatedValue("bob")}
    )
    assert derived["e", WHOLE_VALUE] == DerivedValue("ada", "c", 2)
    assert values(derived) == {"c": "ada", "d": "bob", "e": "ada", "f": "ada"}


def test_when_one_of_two_origins_is_gone_the_other_replaces_it() -> None:
    graph = graph_of("ac", "bd", "dc")
    both = recompute_attribute(graph, FILL, {"a": StatedValue("ada"), "b": StatedValue("bob")})
    assert both["c", WHOLE_VALUE] == DerivedValue("ada", "a", 1)
    known = Known(graph, {"b": StatedValue("bob")}, both)
    assert incremental(known, FILL, {"a"})["c", WHOLE_VALUE] == DerivedValue("bob", "d", 2)


@pytest.mark.parametrize(
    ("rule", "reached"),
    [
        (replace(FILL, max_depth=2), {"c", "d"}),
        (replace(FILL, direction="upstream"), {"a"}),
        (replace(FILL, direction="both"), {"a", "c", "d", "e"}),
        (replace(FILL, edge_types=frozenset({"used-in"})), set()),
    ],
)
def test_a_rule_limits_depth_direction_and_edge_types(rule: AttributeRule, reached: set[str]) -> None:
    derived = recompute_attribute(graph_of("ab", "bc", "cd", "de"), rule, {"b": StatedValue("ada")})
    assert values(derived).keys() == reached


def test_nothing_is_derived_beyond_the_depth_of_a_rule() -> None:
    near, known = replace(FILL, max_depth=1), Known(graph_of("ab", "bc"), {"a": StatedValue("ada")})
    assert values(recompute_attribute(known.graph, near, known.values)) == {"b": "ada"}
    assert values(incremental(known, near, "abc")) == {"b": "ada"}


@pytest.mark.parametrize(("on_delete", "reached"), [("keep", {"b", "c"}), ("cut", {"b"})])
def test_a_deleted_asset_passes_values_on_only_where_deletion_does_not_cut(
    on_delete: OnDelete, reached: set[str]
) -> None:
    known = Known(replace(graph_of("ab", "bc"), deleted={"b"}, on_delete=on_delete), {"a": StatedValue("ada")})
    assert values(recompute_attribute(known.graph, FILL, known.values)).keys() == reached
    assert values(incremental(known, FILL, "abc")).keys() == reached


def test_an_override_passes_through_what_only_a_source_states() -> None:
    graph, stated = graph_of("ab", "bc"), {"a": StatedValue("ada"), "b": StatedValue("bob")}
    known = Known(graph, {**stated, "a": StatedValue("eve")}, recompute_attribute(graph, OVERRIDE, stated))
    assert values(incremental(known, OVERRIDE, {"a"})) == {"b": "eve", "c": "eve"}


def test_a_cycle_ends_and_does_not_support_itself() -> None:
    graph = graph_of("ab", "bc", "cb")
    before = recompute_attribute(graph, FILL, {"a": StatedValue("ada")})
    assert values(before) == {"b": "ada", "c": "ada"}
    assert incremental(Known(graph, {}, before), FILL, {"a"}) == {}


def test_nothing_passes_through_an_asset_that_states_its_own_value() -> None:
    held = {"a": StatedValue("ada"), "b": StatedValue(user="bob")}
    assert values(recompute_attribute(graph_of("ab", "bc"), FILL, held)) == {"c": "bob"}
    assert values(recompute_attribute(graph_of("ab", "bc"), OVERRIDE, held)) == {"c": "bob"}


def test_masking_does_not_stop_an_attribute_but_a_blocked_edge_does() -> None:
    edges = {Edge("a", "b", "used-in", masking=True), Edge("b", "c", "used-in", propagates=False)}
    assert values(recompute_attribute(Graph(edges=edges), FILL, {"a": StatedValue("ada")})) == {"b": "ada"}


def test_override_takes_its_value_from_a_root_or_a_person_and_ignores_sources_downstream() -> None:
    held = {"a": StatedValue("ada"), "b": StatedValue("bob"), "c": StatedValue("cyd")}
    assert values(recompute_attribute(graph_of("ab", "bc"), OVERRIDE, held)) == {"b": "ada", "c": "ada"}
    assert values(recompute_attribute(graph_of("ab", "ba"), OVERRIDE, held)) == {}


def test_a_neighbour_that_is_not_a_root_overrides_nothing() -> None:
    known = Known(graph_of("ab", "bc"), {"b": StatedValue("bob")})
    assert incremental(known, OVERRIDE, {"c"}) == {}
    known.graph = graph_of("bc")
    assert values(incremental(known, OVERRIDE, {"c"})) == {"c": "bob"}


def test_items_propagate_one_by_one_also_through_assets_that_have_them() -> None:
    held = {"a": StatedValue(["x", "y"]), "b": StatedValue(["y"]), "c": StatedValue("z")}
    derived = recompute_attribute(graph_of("ab", "bc"), ADD, held)
    assert (added(derived, "b"), added(derived, "c")) == ({"x"}, {"x", "y"})
    assert derived["c", '"y"'] == DerivedValue("y", "b", 1)
    near = recompute_attribute(graph_of("ab", "bc"), replace(ADD, max_depth=1), held)
    assert added(near, "c") == {"y"}


def test_a_list_begins_with_the_items_of_the_source_followed_by_derived_ones_sorted() -> None:
    labels = {item: DerivedValue(value, "a", 1) for item, value in items_of(["z", "m", 1, True]).items()}
    assert enriched_value(ADD, StatedValue(["q", "m"]), labels) == ["q", "m", "z", 1, True]
    assert enriched_value(ADD, StatedValue("q", ["own"]), labels) == ["q", "m", "z", 1, True]
    assert enriched_value(ADD, StatedValue(["q"]), {}) is None
    assert enriched_value(FILL, StatedValue(), {WHOLE_VALUE: DerivedValue("ada", "a", 1)}) == "ada"
    assert enriched_value(FILL, StatedValue(), {}) is None


def test_a_list_stays_within_the_limits_of_the_contract() -> None:
    labels = {
        item: DerivedValue(value, "a", 1) for item, value in items_of([f"t{n:04}" for n in range(MAX_ITEMS)]).items()
    }
    stated = enriched_value(ADD, StatedValue(["q"]), labels)
    assert len(stated) == MAX_ITEMS
    long = {item: DerivedValue(value, "a", 1) for item, value in items_of([f"{n}" * 60_000 for n in range(9)]).items()}
    assert len(enriched_value(ADD, StatedValue(["q"]), long)) == 5


def test_item_names_fit_an_index_and_differ_for_different_items() -> None:
    assert items_of([1, True, "1", {"b": 1, "a": 2}, None, ""]).keys() == {"1", "true", '"1"', '{"a":2,"b":1}'}
    (one, other) = items_of(["x" * 70_000, "x" * 70_001])
    assert one != other
    assert max(len(one), len(other)) <= MAX_ITEM


@pytest.mark.parametrize(
    ("attribute", "mode", "says"),
    [
        ("tags", "add", "POST /tags"),
        ("name", "override", "cannot come from another"),
        ("qualified_name", "override", "cannot come from another"),
        ("parent", "set-if-empty", "cannot come from another"),
        ("created_by", "set-if-empty", "cannot come from another"),
        ("data_source", "set-if-empty", "cannot come from another"),
        ("$type", "override", "must not begin with $"),
        ("", "override", "printable"),
        ("a,b", "override", "no comma"),
        ("owner", "add", "use set-if-empty or override"),
    ],
)
def test_an_impossible_rule_is_refused_with_what_to_do(attribute: str, mode: Any, says: str) -> None:
    problem = rule_problem(attribute, mode)
    assert problem is not None
    assert says in problem.description
    assert rule_problem("cost_centre", mode) is None
