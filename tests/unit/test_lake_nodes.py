"""The graph reads an asset from the lake again only if a new event could change what it knows."""

from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st

from lily.lineage.lake_nodes import LakeNode, adds_nothing, lake_node_of
from lily.model.events import AssetEvent
from lily.model.ids import asset_id
from lily.model.statements import read_statement
from lily.model.states import AssetState, merge_states
from tests.strategies import events

COLUMN = "shop.public.orders.id"


def piece(second: int, **attributes: str | None) -> AssetState:
    data = {
        "qualified_name": COLUMN,
        "entity_type": "column",
        "attributes": {"name": "id", "parent": "shop.public.orders", **attributes},
    }
    statement = read_statement(data, tenant="default")
    return AssetState.of(AssetEvent(f"{second:036}", f"2026-01-01T00:00:0{second}.000000Z", "default", statement))


@given(st.lists(events(), min_size=2, max_size=8, unique_by=lambda event: event.id))
def test_an_event_that_adds_nothing_changes_nothing(found: list[AssetEvent]) -> None:
    further = AssetState.of(found[-1])
    known = lake_node_of(merge_states(map(AssetState.of, found[:-1])).get((further.tenant, further.id)))
    if adds_nothing(further, known):
        note("adds nothing")
        whole = merge_states(map(AssetState.of, found))[further.tenant, further.id]
        assert lake_node_of(whole) == known


def test_a_restatement_adds_nothing_and_a_new_value_does() -> None:
    known = lake_node_of(piece(1))
    assert known == LakeNode(asset_id("default", "shop.public.orders"), COLUMN, "id", "column")
    assert adds_nothing(piece(2, owner="ada"), known)
    assert not adds_nothing(piece(2, parent="shop.public.customers"), known)
    assert not adds_nothing(piece(2, parent=None), known)
    assert not adds_nothing(piece(2), LakeNode())
