"""What confirms or undoes an end without authority: no more statements than needed, and later than what they end."""

from typing import Any

import pytest

from lily.lineage.edge_state import NO_CLAIMS, Conduction, EdgeClaims, EdgeState
from lily.lineage.pending import PendingId
from lily.lineage.pending_decisions import (
    Author,
    DecidedEvent,
    EdgeRestatement,
    HoldingAsset,
    asset_events,
    comes_too_early,
    edge_events,
    restatements,
    restored,
)
from lily.model import ids
from lily.model.assets import LayerName, held_parents, held_tags, is_cut
from lily.model.edge_layers import merge_edges
from lily.model.edges import EdgeEvent, EdgeKey, EdgeLayer, EdgeStatement
from lily.model.events import AssetEvent
from lily.model.layers import Layer, merge
from lily.model.statements import Statement

NOW, AHEAD = "2026-01-01T00:00:00.000000Z", "2026-01-01T00:04:00.000000Z"
ADA = Author("t", "ada", NOW)
ASSET, OLD, NEW = (ids.asset_id("t", name) for name in ("a", "old", "new"))
KEY = EdgeKey(ASSET, NEW, "derived-from")
TAG, PARENT = PendingId("tag", (ASSET, "pii")), PendingId("parent", (ASSET, OLD))
DELETION, EDGE = PendingId("deletion", (ASSET,)), PendingId("edge", KEY)
Layers = dict[LayerName, Layer]


def stated(second: int, layer: LayerName = "source", operation: Any = "upsert", **attributes: Any) -> Layer:
    """Without authority, by a clock that is ahead."""
    about = Statement(layer, operation, "a", "table" if layer == "source" else None, attributes)
    return about.as_layer("t", f"{AHEAD[:-10]}{second:02}.000000Z/e")


def decided(one: PendingId, decision: Any, layers: Layers) -> list[AssetEvent]:
    found = asset_events(one, decision, HoldingAsset("a", "table", layers), ADA)
    return [event for event in found if isinstance(event, AssetEvent)]


def after(layers: Layers, events: list[AssetEvent]) -> Layers:
    merged = dict(layers)
    for event in events:
        name = event.statement.layer
        merged[name] = merge(merged[name], event.layer()) if name in merged else event.layer()
    return merged


DESCRIBED = stated(3, "user", description="orders")


def test_the_end_of_a_tag_is_confirmed_in_the_layer_that_holds_it_even_if_clocks_are_ahead() -> None:
    layers: Layers = {"source": merge(stated(1, tags=["PII"]), stated(2, tags=[])), "user": DESCRIBED}
    assert held_tags(layers["source"]) == {"pii": "PII"}
    found = decided(TAG, "confirm", layers)
    assert [event.statement.layer for event in found] == ["source"]
    assert held_tags(after(layers, found)["source"]) == {}


@pytest.mark.parametrize("layer", ["source", "user"])
def test_the_end_of_a_parent_is_confirmed_even_if_clocks_are_ahead(layer: LayerName) -> None:
    moved = stated(2, layer, parent="new")
    layers: Layers = {"source": stated(1, parent="old")}
    layers = {**layers, layer: merge(layers[layer], moved) if layer in layers else moved}
    assert held_parents(layers) == {OLD}
    assert held_parents(after(layers, decided(PARENT, "confirm", layers))) == set()


def test_the_end_of_an_asset_is_confirmed_in_the_layer_that_deletes_it_even_if_clocks_are_ahead() -> None:
    layers: Layers = {"source": stated(1, operation="delete"), "user": DESCRIBED}
    assert not is_cut(layers)
    found = decided(DELETION, "confirm", layers)
    assert [event.statement.layer for event in found] == ["source"]
    assert is_cut(after(layers, found))


def test_what_is_undone_is_a_persons_and_later_than_what_ended_it() -> None:
    layers: Layers = {"source": merge(stated(1, tags=["PII"]), stated(2, tags=[]))}
    (event,) = decided(TAG, "undo", layers)
    assert (event.statement.layer, event.statement.tag, event.statement.authorised) == ("user", "pii", True)
    assert event.clock > layers["source"].at


def test_a_decision_has_its_own_time_where_clocks_are_behind() -> None:
    assert Author("t", "ada", "2027-01-01T00:00:00.000000Z").after(f"{AHEAD}/e").time == "2027-01-01T00:00:00.000000Z"
    assert ADA.after(f"{AHEAD}/e").time == "2026-01-01T00:04:00.000001Z"
    assert ADA.after(f"{NOW}/e").time == "2026-01-01T00:00:00.000001Z"


def test_what_is_dated_in_the_future_is_not_confirmed_before_that_time() -> None:
    """Until then a release would end what is stated after it, by clocks that are right."""
    layers: Layers = {"source": merge(stated(1, tags=["PII"]), stated(20, tags=[]))}
    assert comes_too_early(decided(TAG, "confirm", layers), ADA)
    in_time = ADA._replace(time=f"{AHEAD[:-10]}05.000000Z")
    found = [
        event
        for event in asset_events(TAG, "confirm", HoldingAsset("a", "table", layers), in_time)
        if isinstance(event, AssetEvent)
    ]
    assert not comes_too_early(found, in_time)
    confirmed = after(layers, found)["source"]
    assert held_tags(confirmed) == {}
    assert held_tags(merge(confirmed, stated(6, tags=["PII"]))) == {"pii": "PII"}


@pytest.mark.parametrize("kind", ["tag", "parent", "deletion", "edge", "claim"])
def test_no_confirmation_is_dated_in_the_future(kind: str) -> None:
    ended = edge(("source", "upsert", {}), ("source", "delete", {}))
    before = Author("t", "ada", "2025-12-31T23:59:00.000000Z")
    layers: dict[str, Layers] = {
        "tag": {"source": merge(stated(1, tags=["PII"]), stated(2, tags=[]))},
        "parent": {"source": merge(stated(1, parent="old"), stated(2, parent="new"))},
        "deletion": {"source": stated(1, operation="delete")},
    }
    if kind in layers:
        one = {"tag": TAG, "parent": PARENT, "deletion": DELETION}[kind]
        found = asset_events(one, "confirm", HoldingAsset("a", "table", layers[kind]), before)
    elif kind == "edge":
        found = edge_events(EDGE, "confirm", ended, before)
    else:
        claim = PendingId("claim", (ids.asset_id("t", "job"), *KEY))
        found = edge_events(claim, "confirm", EdgeState({}), before, held_at=f"{NOW}/e")
    assert comes_too_early(found, before)


LATER = Author("t", "ada", "2027-01-01T00:00:00.000000Z")


def test_a_confirmation_does_not_end_a_tag_that_came_after_what_was_reviewed() -> None:
    """It is in the log, and merged after the confirmation was made."""
    reviewed: Layers = {"source": merge(stated(1, tags=["PII"]), stated(2, tags=[]))}
    found = asset_events(TAG, "confirm", HoldingAsset("a", "table", reviewed), LATER)
    confirmed = after(reviewed, [event for event in found if isinstance(event, AssetEvent)])
    assert held_tags(confirmed["source"]) == {}
    again = merge(stated(3, tags=["PII"]), stated(4, tags=[]))
    assert held_tags(merge(confirmed["source"], again)) == {"pii": "PII"}


def test_a_confirmation_does_not_end_a_parent_that_came_after_what_was_reviewed() -> None:
    reviewed: Layers = {"source": merge(stated(1, parent="old"), stated(2, parent="new"))}
    found = asset_events(PARENT, "confirm", HoldingAsset("a", "table", reviewed), LATER)
    confirmed = after(reviewed, [event for event in found if isinstance(event, AssetEvent)])
    assert held_parents(confirmed) == set()
    again = merge(stated(3, parent="old"), stated(4, parent="new"))
    assert held_parents({"source": merge(confirmed["source"], again)}) == {OLD}


def test_a_confirmation_does_not_close_an_edge_that_came_after_what_was_reviewed() -> None:
    reviewed = edge(("source", "upsert", {}), ("source", "delete", {}))
    (event,) = edge_events(EDGE, "confirm", reviewed, LATER)
    assert isinstance(event, EdgeEvent)
    assert f"{NOW[:-10]}01.000000Z/e" < event.clock < f"{NOW[:-10]}02.000000Z/e"


def test_a_confirmation_does_not_end_a_claim_that_came_after_what_was_reviewed() -> None:
    claim = PendingId("claim", (ids.asset_id("t", "job"), *KEY))
    (event,) = edge_events(claim, "confirm", EdgeState({}), LATER, held_at=f"{NOW}/e", ended_at=AHEAD)
    assert f"{AHEAD}/e" < event.clock < f"{AHEAD[:-8]}1.000000Z/e"


def test_a_decision_about_what_has_no_clock_is_of_now() -> None:
    assert LATER.reviewing("") == LATER


def test_what_is_undone_is_of_now() -> None:
    (event,) = edge_events(EDGE, "undo", edge(("source", "upsert", {}), ("source", "delete", {})), LATER)
    assert event.time == LATER.time


def test_a_confirmation_of_what_only_the_graph_knows_is_of_now() -> None:
    found = asset_events(PARENT, "confirm", HoldingAsset("a", "column", {"source": stated(1)}), LATER)
    assert [event.time for event in found] == [LATER.time]


def test_the_end_of_a_claim_is_confirmed_later_than_it_was_made() -> None:
    claim = PendingId("claim", (ids.asset_id("t", "job"), *KEY))
    (event,) = edge_events(claim, "confirm", EdgeState({}), ADA, held_at=f"{AHEAD}/e")
    assert event.clock > f"{AHEAD}/e"


def edge(*statements: tuple[EdgeLayer, Any, dict[str, bool | None]], claims: EdgeClaims = NO_CLAIMS) -> EdgeState:
    """Of what is stated one after the other, without authority."""
    layers: dict[EdgeLayer, Layer] = {}
    for second, (layer, operation, settings) in enumerate(statements):
        made = EdgeStatement(layer, operation, KEY, settings).as_layer(f"{NOW[:-10]}{second:02}.000000Z/e")
        layers[layer] = merge_edges(layers[layer], made) if layer in layers else made
    return EdgeState(layers, claims)


def with_events(state: EdgeState, events: list[DecidedEvent]) -> EdgeState:
    layers = dict(state.layers)
    for event in events:
        assert isinstance(event, EdgeEvent)
        name = event.statement.layer
        layers[name] = merge_edges(layers[name], event.layer()) if name in layers else event.layer()
    return EdgeState(layers, state.claims)


ENDS: dict[str, tuple[Any, dict[str, bool | None]]] = {
    "deleted": ("delete", {}),
    "blocked": ("upsert", {"propagates": False}),
    "masked": ("upsert", {"masking": True}),
}


@pytest.mark.parametrize("layer", ["source", "user"])
@pytest.mark.parametrize("end", ENDS)
def test_an_edge_conducts_what_it_shows_once_its_end_is_confirmed_and_all_once_it_is_undone(
    layer: EdgeLayer, end: str
) -> None:
    state = edge((layer, "upsert", {}), (layer, *ENDS[end]))
    assert state.is_held
    confirmed = with_events(state, edge_events(EDGE, "confirm", state, ADA))
    assert (confirmed.is_held, confirmed.effective) == (False, state.effective)
    undone = with_events(state, edge_events(EDGE, "undo", state, ADA))
    assert (undone.is_held, undone.conduction, undone.effective) == (False, Conduction.ALL, (True, False, False))


def test_a_claim_that_is_held_is_confirmed_by_itself() -> None:
    """The layers state again what they show, and no one states that the edge is masked."""
    state = edge(("source", "upsert", {}), ("source", "delete", {}), claims=EdgeClaims(held=Conduction.ALL))
    assert restatements(state) == [EdgeRestatement("source", "delete", {}, state.layers["source"].at)]


def test_a_persons_edge_that_a_job_masks_is_confirmed_as_masked() -> None:
    state = edge(("user", "upsert", {}), claims=EdgeClaims(claimed=True, mask=True))
    assert state.is_held
    (found,) = restatements(state)
    assert (found.layer, found.settings) == ("user", {"masking": True})


def test_an_edge_that_is_undone_is_not_masked_by_what_comes_later() -> None:
    state = edge(("source", "upsert", {}), ("source", "delete", {}))
    assert restored(state).settings == {"masking": False}
    masked = edge(("source", "upsert", {"masking": True}), ("source", "delete", {}))
    assert masked.conduction == Conduction.MASKED
    assert restored(masked).settings == {}
