"""Who would gain and who would lose a tag: against two full recomputations, before and after the change."""

from collections.abc import Collection
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lily.lineage.breadth_first import BreadthFirstSearch, Place
from lily.lineage.definitions import TagDefinition
from lily.lineage.retagging import Link, Member, Region, Retagged, retagged
from tests.tag_oracle import TagGraph, departures, recompute
from tests.unit.test_tag_reach import ASSETS, TAG, definitions, graphs, onwards, steps

some = st.sets(st.sampled_from(ASSETS), max_size=2)


def region_around(graph: TagGraph, tag: TagDefinition, changed: Collection[str]) -> Region:
    """The region that the store would read, from a graph in memory."""
    members = set(changed)
    for start in changed:
        search = BreadthFirstSearch(start, tag.max_depth)
        while frontier := search.frontier:
            search.expand(list(onwards(graph, tag, frontier)))
        members |= search.visited.keys()
    cut = graph.cut if graph.on_delete == "cut" else set()
    leaving = departures(graph, tag)
    offers: dict[Place, int] = {}
    for start, end, hops, influences in steps(graph, tag):
        for content in (True, False):
            depth = leaving.get((start, content))
            if depth is None or start in members or end not in members:
                continue
            if content if hops == 0 else tag.max_depth is None or depth < tag.max_depth:
                place = Place(end, content and not influences)
                offers[place] = min(depth + hops, offers.get(place, depth + hops))
    return Region(
        tag.max_depth,
        {
            asset: Member(graph.states(asset, TAG), TAG in graph.suppressed.get(asset, ()), asset in cut)
            for asset in members
        },
        {link for link in steps(graph, tag) if link.start in members and link.end in members},
        offers,
    )


def effective(graph: TagGraph, tag: TagDefinition) -> set[str]:
    derived = {one.asset for one in recompute(graph, [tag]) if not graph.suppresses(one.asset, TAG)}
    return derived | {asset for asset in graph.stated if graph.states(asset, TAG)}


@given(graphs(), definitions, some, some)
def test_what_would_change_is_the_difference_of_two_recomputations(
    graph: TagGraph, tag: TagDefinition, add: set[str], remove: set[str]
) -> None:
    stating = (graph.stated.keys() - remove) | add
    after = replace(graph, stated={asset: {TAG} for asset in stating})
    gained = effective(after, tag) - effective(graph, tag)
    lost = effective(graph, tag) - effective(after, tag)
    found = retagged(region_around(graph, tag, add | remove), add, remove)
    assert found == Retagged(frozenset(gained), frozenset(lost))


def test_a_cycle_does_not_keep_a_tag_that_its_origin_lost() -> None:
    members = {asset: Member(states=asset == "a") for asset in "abc"}
    links = {Link("a", "b", 1), Link("b", "c", 1), Link("c", "b", 1)}
    assert retagged(Region(None, members, links), (), {"a"}).lost == {"a", "b", "c"}
    kept = retagged(Region(None, members, links, {Place("c", content=True): 2}), (), {"a"})
    assert kept.lost == {"a"}


def region(members: dict[str, Member], *links: Link, max_depth: int | None = None) -> Region:
    return Region(max_depth, members, set(links))


def test_the_tag_goes_as_far_as_its_definition_lets_it_and_no_further() -> None:
    members = dict.fromkeys("abcd", Member())
    chain = (Link("a", "b", 1), Link("b", "c", 1), Link("c", "d", 0))
    for max_depth, gained in ((0, "a"), (1, "ab"), (2, "abcd"), (None, "abcd")):
        found = retagged(region(members, *chain, max_depth=max_depth), add={"a"}, remove=set())
        assert found == Retagged(frozenset(gained), frozenset())


def test_what_is_cut_off_has_the_tag_and_passes_it_on_to_nothing() -> None:
    members = {"a": Member(cut=True), "b": Member()}
    found = retagged(region(members, Link("a", "b", 1)), add={"a"}, remove=set())
    assert found.gained == {"a"}


def test_an_asset_that_states_what_it_suppresses_passes_it_on() -> None:
    members = {"a": Member(suppresses=True), "b": Member(suppresses=True), "c": Member()}
    found = retagged(region(members, Link("a", "b", 1), Link("b", "c", 1)), add={"a"}, remove=set())
    assert found.gained == {"a"}
    members["b"] = Member(states=True, suppresses=True)
    found = retagged(region(members, Link("a", "b", 1), Link("b", "c", 1)), add=set(), remove={"b"})
    assert found.lost == {"b", "c"}


def test_what_only_influences_an_asset_is_not_inherited_from_it() -> None:
    members = dict.fromkeys("abc", Member())
    for influences, gained in ((False, "abc"), (True, "ab")):
        links = Link("a", "b", 1, influences), Link("b", "c", 0)
        assert retagged(region(members, *links), add={"a"}, remove=set()).gained == frozenset(gained)
