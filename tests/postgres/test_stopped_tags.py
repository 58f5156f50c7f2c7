"""What stops a tag: a suppression, a masked edge, a deletion that cuts, and the end of all its origins."""

from collections.abc import Callable

import pytest

from tests.lineage_world import World


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


@pytest.fixture
def suppressed(world: World) -> World:
    """A tag reaches `b`, where a person suppresses it."""
    world.asset("a", tags=["PII"])
    world.asset("b")
    world.edge("a", "b")
    world.settle()
    world.person("b", "suppress", tag="PII", reason="tokenised")
    world.settle()
    return world


def derived(world: World) -> set[str]:
    world.settle()
    assert world.stored() == world.recomputed()
    return world.derived()


def test_an_edge_that_comes_later_does_not_carry_what_is_suppressed(suppressed: World) -> None:
    suppressed.asset("c")
    suppressed.edge("b", "c")
    assert derived(suppressed) == {"b"}


def test_an_asset_that_states_a_suppressed_tag_itself_passes_it_on(suppressed: World) -> None:
    suppressed.asset("b", tags=["PII"])
    suppressed.asset("c")
    suppressed.edge("b", "c")
    assert derived(suppressed) == {"c"}


def test_a_masked_edge_stops_the_tags_whose_definition_says_so(world: World) -> None:
    world.define("secret", stopped_by_masking=True)
    world.define("open", stopped_by_masking=False)
    world.asset("a", tags=["secret", "open"])
    world.asset("b")
    world.edge("a", "b", masking=True)
    world.settle()
    assert (world.derived("secret"), world.derived("open")) == (set(), {"b"})
    assert world.stored() == world.recomputed()


def test_an_edge_that_comes_after_a_deletion_that_cuts_carries_nothing(world: World) -> None:
    world.on_delete("cut")
    world.asset("a", tags=["PII"])
    world.asset("b")
    world.person("a", "delete")
    world.settle()
    world.edge("a", "b")
    assert derived(world) == set()


def test_a_circle_through_the_hierarchy_does_not_support_itself(world: World) -> None:
    """`q` contains `p` and `p` contains `c`, from which `q` is derived."""
    world.asset("x", tags=["PII"])
    world.asset("q")
    world.asset("p", parent="q")
    world.asset("c", parent="p")
    world.edge("x", "p")
    world.edge("c", "q")
    world.settle()
    assert world.derived() >= {"p", "q"}
    world.unlink("x", "p")
    assert derived(world) == set()
