"""The graph reads an asset from the lake again only if a new event could change what it knows."""

import pyarrow as pa
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st

from lily.lineage.lake_nodes import LakeNode, adds_nothing, lake_node_of
from lily.model.events import AssetEvent
from lily.model.ids import asset_id
from lily.model.statements import Statement, read_statement
from lily.model.states import AssetState, merge_states
from lily.store.lake.nodes import NODE_COLUMNS, read_nodes
from lily.store.lake.rows import states_to_batch
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


@given(st.lists(events(), max_size=8, unique_by=lambda event: event.id), st.integers(1, 4))
def test_a_node_is_that_of_the_merged_state_however_its_rows_are_read(found: list[AssetEvent], size: int) -> None:
    batches = [found[begin : begin + size] for begin in range(0, len(found), size)]
    tables = [
        pa.Table.from_batches([states_to_batch(merge_states(map(AssetState.of, some)).values(), 1)]) for some in batches
    ]
    whole = merge_states(map(AssetState.of, found))
    note(f"{sum(table.num_rows for table in tables) - len(whole)} rows to merge")
    wanted = {asset_id: lake_node_of(state) for (_, asset_id), state in whole.items()}
    assert read_nodes([table.select(NODE_COLUMNS) for table in tables]) == wanted


def test_a_deleted_column_is_read_as_deleted() -> None:
    event = AssetEvent("1" * 36, "2026-01-01T00:00:01.000000Z", "default", deletion())
    state = AssetState.of(event)
    rows = pa.Table.from_batches([states_to_batch([state], 1)])
    assert read_nodes([rows]) == {state.id: lake_node_of(state)}
    assert read_nodes([rows])[state.id].is_deleted


def deletion() -> Statement:
    data = {"operation": "delete", "qualified_name": COLUMN, "entity_type": "column", "attributes": {"name": "id"}}
    return read_statement(data, tenant="default")
