"""What a tag would reach, its origins, and what is inherited: each against the full recomputation."""

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from lily.lineage.breadth_first import BreadthFirstSearch, Neighbour, Place
from lily.lineage.definitions import Direction, OnDelete, TagDefinition
from lily.lineage.graph import Edge
from lily.lineage.inheritance import Ancestor, inherited_tags
from lily.lineage.retagging import Link
from lily.model.edges import INFLUENCES
from tests.tag_oracle import Derived, TagGraph, recompute, replay, steps_along

ASSETS = "abcdefg"
TAG = "pii"


@st.composite
def graphs(draw: st.DrawFn) -> TagGraph:
    assets = st.sampled_from(ASSETS)
    kinds = st.sampled_from(["derived-from", "used-in", "influences"])
    edges = st.builds(Edge, assets, assets, kinds, st.booleans(), st.booleans())
    some = st.sets(assets, max_size=3)
    deleted = draw(some)
    return TagGraph(
        edges={edge for edge in draw(st.sets(edges, max_size=12)) if edge.from_id != edge.to_id},
        stated={asset: {TAG} for asset in draw(some)},
        suppressed={asset: {TAG} for asset in draw(some)},
        parents={child: up for child, up in draw(st.dictionaries(assets, assets, max_size=4)).items() if child != up},
        deleted=deleted,
        on_delete=draw(st.sampled_from(get_args(OnDelete))),
        cut=deleted & draw(some),  # with authority
    )


definitions = st.builds(
    TagDefinition,
    st.just(TAG),
    st.just("PII"),
    propagates=st.just(True),
    direction=st.sampled_from(get_args(Direction)),
    max_depth=st.none() | st.integers(1, 3),
    edge_types=st.none() | st.just(frozenset({"used-in"})) | st.just(frozenset({"used-in", "influences"})),
    stopped_by_masking=st.booleans(),
)


def steps(graph: TagGraph, tag: TagDefinition) -> Iterator[Link]:
    """Every step that the tag may take."""
    for edge in graph.edges:
        for start, end in steps_along(edge, tag):
            yield Link(start, end, 1, edge.type == INFLUENCES)
    for child, parent in graph.parents.items():
        yield Link(parent, child, 0)


def onwards(graph: TagGraph, tag: TagDefinition, frontier: list[Place]) -> Iterator[Neighbour]:
    """The neighbours that the store would read, from a graph in memory."""
    for start, end, hops, influences in steps(graph, tag):
        for asset, content in frontier:
            if asset == start and (hops or content):
                yield Neighbour(end, start, hops, graph.conducts(end, tag.key), content and not influences)


def backwards(graph: TagGraph, tag: TagDefinition, frontier: list[Place]) -> Iterator[Neighbour]:
    for start, end, hops, influences in steps(graph, tag):
        for asset, content in frontier:
            if asset == end and graph.conducts(start, tag.key) and not (content and influences):
                yield Neighbour(start, end, hops, content=content or not hops)


@given(graphs(), definitions, st.sampled_from(ASSETS))
def test_a_dry_run_finds_what_the_recomputation_finds_once_the_asset_states_the_tag(
    graph: TagGraph, tag: TagDefinition, start: str
) -> None:
    alone = replace(graph, stated={start: {TAG}})
    reach = BreadthFirstSearch(start, tag.max_depth)
    while frontier := reach.frontier:
        if not alone.conducts(frontier[0].asset, TAG):
            break  # a deleted asset that cuts reaches nothing, even with a tag of its own
        reach.expand(list(onwards(alone, tag, frontier)))
    expected: dict[str, int] = {}
    for derived in recompute(alone, [tag]):
        expected[derived.asset] = min(derived.depth, expected.get(derived.asset, derived.depth))
    assert {asset: visit.depth for asset, visit in reach.visited.items()} == expected


@given(graphs(), definitions, st.sampled_from(ASSETS))
def test_the_origins_found_backwards_are_those_that_alone_would_cause_the_tag(
    graph: TagGraph, tag: TagDefinition, asset: str
) -> None:
    reach = BreadthFirstSearch(asset, tag.max_depth, content=False)
    while frontier := reach.frontier:
        reach.expand(list(backwards(graph, tag, frontier)))
    found = {origin for origin in reach.visited if graph.states(origin, TAG)}
    if graph.states(asset, TAG):
        return  # what it states itself, it does not derive
    for origin in graph.stated:
        # The others keep their tag for what lies between: a suppression stops nothing where the tag is stated.
        only = {other: tags for other, tags in graph.stated.items() if other == origin}
        reaches = any(derived.asset == asset for derived in recompute(replace(graph, stated=only), [tag]))
        assert not reaches or origin in found


@given(graphs(), definitions, st.sampled_from(ASSETS))
def test_inherited_tags_are_those_that_the_recomputation_inherits(
    graph: TagGraph, tag: TagDefinition, asset: str
) -> None:
    derived = recompute(graph, [tag])
    ancestors, at = list[Ancestor](), asset
    while (parent := graph.parents.get(at)) is not None and len(ancestors) < 64:
        arrived = any((one.asset, one.kind) == (parent, "propagated") for one in derived)
        ancestors.append(
            Ancestor(
                parent,
                frozenset(graph.stated.get(parent, ())),
                frozenset({TAG} if arrived else ()),
                frozenset(graph.suppressed.get(parent, ())),
                parent in graph.cut,
            )
        )
        at = parent
    expected = any((one.asset, one.kind) == (asset, "inherited") for one in derived)
    carried = inherited_tags(ancestors, cut=graph.on_delete == "cut")
    assert (TAG in carried and not graph.states(asset, TAG)) == expected


def test_a_search_ends_at_the_depth_of_the_tag() -> None:
    graph = TagGraph(edges={Edge(start, end, "used-in") for start, end in ("ab", "bc", "cd")}, stated={"a": {TAG}})
    for max_depth, reached in ((1, "b"), (2, "bc"), (None, "bcd")):
        tag = TagDefinition(TAG, "PII", propagates=True, max_depth=max_depth)
        search = BreadthFirstSearch("a", max_depth)
        while frontier := search.frontier:
            search.expand(list(onwards(graph, tag, frontier)))
        assert search.visited.keys() == set(reached)


def test_a_suppression_stops_what_ancestors_further_up_pass_down() -> None:
    nothing, pii = frozenset[str](), frozenset({TAG})
    top = Ancestor("top", pii, nothing, nothing)
    assert inherited_tags([Ancestor("parent", nothing, nothing, nothing), top], cut=True) == {TAG: 1}
    assert inherited_tags([Ancestor("parent", nothing, nothing, pii), top], cut=True) == {}


def test_a_deleted_ancestor_passes_tags_down_only_where_deletion_does_not_cut() -> None:
    nothing = frozenset[str]()
    deleted = Ancestor("parent", frozenset({TAG}), nothing, nothing, deleted=True)
    assert inherited_tags([deleted], cut=False) == {TAG: 0}
    assert inherited_tags([deleted], cut=True) == {}


def test_an_influence_is_not_inherited_wherever_it_goes() -> None:
    """It reaches `b`, and `c` that is derived from it, but nothing below them."""
    tag = TagDefinition(TAG, "PII", propagates=True, edge_types=frozenset({"derived-from", "influences"}))
    graph = TagGraph(
        edges={Edge("a", "b", "influences"), Edge("b", "c", "derived-from")},
        stated={"a": {TAG}},
        parents={"d": "b", "e": "c"},
    )
    assert recompute(graph, [tag]) == {Derived("b", TAG, "influenced", 1), Derived("c", TAG, "influenced", 2)}
    assert replay(["a", "b", "c"], graph, tag) == []
    assert replay(["a", "b", "d"], graph, tag) == ["pii does not pass from b to d"]
    graph.edges.add(Edge("a", "c", "derived-from"))
    assert {one.asset: one.kind for one in recompute(graph, [tag]) if one.depth == 1} == {
        "b": "influenced",
        "c": "propagated",
        "e": "inherited",
    }


def test_a_path_is_replayed_step_by_step() -> None:
    tag = TagDefinition(TAG, "PII", propagates=True, max_depth=1)
    graph = TagGraph(
        edges={Edge("a", "b", "used-in"), Edge("b", "c", "used-in", propagates=False)},
        stated={"a": {TAG}},
        suppressed={"d": {TAG}},
        parents={"d": "b", "e": "d"},
    )
    assert replay(["a", "b", "d"], graph, tag) == []
    assert replay(["b", "d"], graph, tag) == ["b does not state pii"]
    assert replay(["a", "b", "c"], graph, tag) == [
        "pii does not pass from b to c",
        "the path has 2 edges, more than 1",
    ]
    assert replay(["a", "b", "d", "e"], graph, tag) == ["pii does not propagate from d"]
    assert replay(["a"], graph, tag) == ["a derived tag needs a path of at least two assets"]
