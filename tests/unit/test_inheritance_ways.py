"""What an asset with several parents inherits, because some of them are held: by any way up, circles included."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lily.lineage.definitions import TagDefinition
from lily.lineage.inheritance import Ancestor, inherited_by_any_way
from tests.tag_oracle import TagGraph, recompute

ABOVE = ("a", "b", "c", "d")
TAGS = ("pii", "gdpr")
ASSET = "x"
SETS = st.frozensets(st.sampled_from(TAGS))
ANCESTORS = st.fixed_dictionaries(
    {one: st.builds(Ancestor, st.just(one), SETS, st.just(frozenset()), SETS, st.booleans()) for one in ABOVE}
)
PARENTS = st.fixed_dictionaries(
    {one: st.lists(st.sampled_from([other for other in ABOVE if other != one]), unique=True) for one in (*ABOVE, ASSET)}
)


@given(ancestors=ANCESTORS, parents=PARENTS, cut=st.booleans())
def test_a_tag_is_inherited_by_whichever_way_up_lets_it_pass(
    ancestors: dict[str, Ancestor], parents: dict[str, list[str]], *, cut: bool
) -> None:
    graph = TagGraph()
    graph.on_delete = "cut" if cut else "keep"
    graph.stated = {one: set(found.stated) for one, found in ancestors.items()}
    graph.suppressed = {one: set(found.suppressed) for one, found in ancestors.items()}
    graph.cut = {one for one, found in ancestors.items() if found.deleted}
    graph.held_parents = {one: set(found) for one, found in parents.items()}
    expected = {
        one.tag
        for one in recompute(graph, [TagDefinition(tag, tag, propagates=True) for tag in TAGS])
        if one.asset == ASSET
    }
    ways = inherited_by_any_way(parents[ASSET], ancestors.__getitem__, parents.__getitem__, cut=cut)
    assert ways.keys() == expected
    for tag, way in ways.items():
        assert way[0] in parents[ASSET]
        assert all(above in parents[below] for below, above in pairwise(way))
        assert tag in ancestors[way[-1]].stated
