"""Within a layer the newest event wins, in any order, with duplicates, and in batches of any size."""

from functools import reduce
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.layers import Layer, holds, merge
from tests import oracle
from tests.oracle_form import as_oracle
from tests.strategies import ASSETS, PARENTS, events

LISTS = st.sampled_from(["source", "user", "enriched"]).flatmap(
    lambda layer: st.lists(
        events(layers=[layer], assets=ASSETS[:1]), min_size=1, max_size=8, unique_by=lambda event: event.id
    )
)  # of one layer of one asset, so that every event meets all others


def merged(found: list[AssetEvent]) -> Layer:
    return reduce(merge, (event.layer() for event in found))


@given(LISTS, st.randoms())
def test_order_and_duplicates_make_no_difference(found: list[AssetEvent], random: Random) -> None:
    shuffled = found * 2
    random.shuffle(shuffled)
    assert merged(shuffled) == merged(found)


@given(LISTS, st.integers(0, 8))
def test_batches_of_any_size_give_the_same_layer(found: list[AssetEvent], cut: int) -> None:
    parts = [part for part in (found[:cut], found[cut:]) if part]
    assert reduce(merge, map(merged, parts)) == merged(found)


@given(LISTS)
def test_the_merged_layer_equals_applying_the_events_in_time_order(found: list[AssetEvent]) -> None:
    (expected,) = oracle.catalogue(found).values()
    assert plain(merged(found)) == expected[found[0].statement.layer]


@given(LISTS)
def test_an_event_holds_until_a_newer_one_overrides_it(found: list[AssetEvent]) -> None:
    newest = max(found, key=lambda event: event.clock)
    assert holds(merged(found), newest.layer())
    assert all(holds(event.layer(), event.layer()) for event in found)


@given(LISTS)
def test_an_event_of_which_a_newer_one_overrode_a_value_no_longer_holds(found: list[AssetEvent]) -> None:
    """Each value by itself: the newest event that states it, or all tags, has set it."""
    for event in found:
        newer = [other.layer() for other in found if other.clock > event.clock]
        stated = event.layer()
        fields = (stated.fields.keys() | (stated.clocks or {}).keys()) - {"tags"}
        overridden = any(key in fields for other in newer for key in other.fields.keys() | (other.clocks or {}).keys())
        tags = set(stated.fields.get("tags", ())) | set((stated.clocks or {}).get("tags", ()))
        if "tags" in stated.fields and "tags" not in (stated.clocks or {}):
            tags.add("")  # the complete list
        for other in newer:
            named = set(other.fields.get("tags", ())) | set((other.clocks or {}).get("tags", ()))
            lists_all = "tags" in other.fields and "tags" not in (other.clocks or {})
            overridden |= bool(tags) and (lists_all or not tags.isdisjoint(named))
        assert holds(merged(found), stated) == (not overridden)


def plain(layer: Layer) -> dict[str, object]:
    """A layer in the oracle's form."""
    parents = {ids.asset_id("default", name): name for name in PARENTS}
    return as_oracle(layer.fields, parents)


def test_a_layer_with_an_older_value_does_not_replace_a_newer_one_of_another_layer() -> None:
    mixed = Layer({"owner": "ada", "name": "t"}, "3", {"owner": "1"})
    between = Layer({"owner": "bob"}, "2")
    for merged_layer in (merge(mixed, between), merge(between, mixed)):
        assert merged_layer == Layer({"owner": "bob", "name": "t"}, "3", {"owner": "2"})


def test_a_tag_that_a_newer_event_took_away_no_longer_holds() -> None:
    tagged = Layer({"tags": {"x": "X"}}, "1", {"tags": {"x": "1"}})
    untagged = Layer({"tags": {}}, "2", {"tags": {"x": "2"}})
    assert holds(tagged, tagged)
    assert not holds(merge(tagged, untagged), tagged)


def test_a_field_that_was_cleared_stays_cleared_after_a_newer_statement_that_does_not_name_it() -> None:
    stated = Layer({"name": "t", "owner": "ada"}, "1")
    cleared = Layer({"name": "t"}, "2", {"owner": "2"})
    newer = Layer({"name": "u"}, "3")
    assert "owner" not in merge(merge(cleared, newer), stated).fields


def test_an_empty_list_of_tags_no_longer_holds_after_a_newer_list() -> None:
    nothing = Layer({"tags": {}}, "1")
    assert holds(nothing, nothing)
    assert not holds(merge(nothing, Layer({"tags": {"x": "X"}}, "2")), nothing)
