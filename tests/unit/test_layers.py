"""Within a layer the newest event wins, in any order, with duplicates, and in batches of any size."""

from functools import reduce
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lily.model.events import AssetEvent
from lily.model.layers import Layer, holds, merge
from tests import oracle
from tests.strategies import events

LISTS = st.lists(events(), min_size=1, max_size=8, unique_by=lambda event: event.id)


def merged(found: list[AssetEvent]) -> Layer:
    return reduce(merge, (event.layer() for event in found))


def one_layer(found: list[AssetEvent]) -> list[AssetEvent]:
    first = found[0].statement
    return [e for e in found if (e.statement.qualified_name, e.statement.layer) == (first.qualified_name, first.layer)]


@given(LISTS, st.randoms())
def test_order_and_duplicates_make_no_difference(found: list[AssetEvent], random: Random) -> None:
    mine = one_layer(found)
    shuffled = mine * 2
    random.shuffle(shuffled)
    assert merged(shuffled) == merged(mine)


@given(LISTS, st.integers(0, 8))
def test_batches_of_any_size_give_the_same_layer(found: list[AssetEvent], cut: int) -> None:
    mine = one_layer(found)
    parts = [part for part in (mine[:cut], mine[cut:]) if part]
    assert reduce(merge, map(merged, parts)) == merged(mine)


@given(LISTS)
def test_the_merged_layer_equals_applying_the_events_in_time_order(found: list[AssetEvent]) -> None:
    mine = one_layer(found)
    (expected,) = oracle.catalogue(mine).values()
    assert plain(merged(mine)) == expected[mine[0].statement.layer]


@given(LISTS)
def test_an_event_holds_until_a_newer_one_overrides_it(found: list[AssetEvent]) -> None:
    mine = one_layer(found)
    newest = max(mine, key=lambda event: event.clock)
    assert holds(merged(mine), newest.layer())
    assert all(holds(event.layer(), event.layer()) for event in mine)


def plain(layer: Layer) -> dict[str, object]:
    """A layer in the oracle's form."""
    fields = {key: value for key, value in layer.fields.items() if not key.startswith("$")}
    if "tags" in fields:
        fields["tags"] = set(fields["tags"])
    names = {"$type": "entity_type", "$deleted": "deleted"}
    return fields | {names[key]: value for key, value in layer.fields.items() if key in names}
