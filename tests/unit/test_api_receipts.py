"""Receipts tell the truth about an event without remembering what it said."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.api.http import cursors, sealed
from lily.api.receipts.receipt import Receipt, Stated, standing, unseal
from lily.model.edge_layers import CONDUCTS, merge_edges
from lily.model.edges import EdgeKey, EdgeOperation, EdgeStatement
from lily.model.events import AssetEvent
from lily.model.layers import Layer, holds, merge
from lily.model.records import Position
from lily.model.statements import read_statement
from tests.strategies import events

TIME = "2026-01-01T00:00:00.000000Z"
EDGE = EdgeKey("a", "b", "derived-from")


@given(st.lists(events(), min_size=1, max_size=6, unique_by=lambda event: event.id))
def test_counting_what_stands_is_the_same_as_comparing_it(stated: list[AssetEvent]) -> None:
    layers: dict[tuple[str, str], Layer] = {}
    for event in stated:
        at = (event.statement.layer, event.asset_id)
        layers[at] = merge(layers[at], event.layer()) if at in layers else event.layer()
    for event in stated:
        layer = layers[event.statement.layer, event.asset_id]
        counted = standing(layer, event.clock) == standing(event.layer(), event.clock)
        assert counted == holds(layer, event.layer())


def test_a_statement_of_which_only_something_held_remains_does_not_stand() -> None:
    tagged, refreshed = (
        read_statement(
            {
                "layer": "source",
                "operation": "upsert",
                "qualified_name": "t",
                "entity_type": "table",
                "attributes": {"name": "t", "tags": tags},
            },
            tenant="default",
        )
        for tags in (["PII"], [])
    )
    first, second = (
        AssetEvent(f"00000000-0000-0000-0000-00000000000{number}", TIME, "default", statement)
        for number, statement in enumerate((tagged, refreshed))
    )
    layer = merge(first.layer(), second.layer())
    assert "$held:pii" in layer.fields
    assert standing(layer, first.clock) != standing(first.layer(), first.clock)
    assert standing(layer, second.clock) == standing(second.layer(), second.clock)


@pytest.mark.parametrize(("operation", "settings"), [("delete", {}), ("upsert", {"propagates": False})])
def test_a_statement_of_an_edge_that_only_conducts_does_not_stand(
    operation: EdgeOperation, settings: dict[str, bool | None]
) -> None:
    opened, closed = (
        EdgeStatement("source", "upsert", EDGE, {"propagates": True}).as_layer("1"),
        EdgeStatement("source", operation, EDGE, settings).as_layer("2"),
    )
    layer = merge_edges(opened, closed)
    assert any(field.startswith(CONDUCTS) for field in layer.fields)
    assert standing(layer, "1") != standing(opened, "1")
    assert standing(layer, "2") == standing(closed, "2")


@given(events())
def test_a_receipt_survives_the_way_there_and_back(event: AssetEvent) -> None:
    receipt = Receipt((Position("topic", 3, 77),), Stated.by(event))
    assert unseal(receipt.seal("tenant"), "tenant") == receipt


def test_a_receipt_of_another_tenant_is_refused() -> None:
    sealed = Receipt((Position("topic", 0, 1),)).seal("mine")
    with pytest.raises(ValueError, match="another purpose"):
        unseal(sealed, "theirs")


@given(st.text(max_size=40))
def test_no_other_text_is_accepted_as_sealed(text: str) -> None:
    with pytest.raises(ValueError, match="sealed"):
        sealed.unseal(text, cursors.NUMBER, "cursor")


@given(st.recursive(st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5), st.lists, max_leaves=8))
def test_one_that_is_made_up_has_to_have_the_shape(value: Any) -> None:
    with suppress(ValueError):
        assert isinstance(sealed.unseal(sealed.seal(value, "cursor"), cursors.NUMBER, "cursor"), int)
    with suppress(ValueError):
        unseal(sealed.seal(value, "receipt", "tenant"), "tenant")
