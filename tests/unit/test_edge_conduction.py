"""What the layers of an edge show and conduct: merge laws, and that only authority closes what was open."""

from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lily.lineage.edge_state import Conduction, EdgeClaims, EdgeState
from lily.model.edge_layers import merge_edges
from lily.model.edges import EdgeEvent, EdgeLayer, EdgeOperation, EdgeStatement
from lily.model.layers import Layer
from tests.edge_oracle import ANYBODY, EVERYBODY, KEYS, NOBODY, conduction, edge_events, in_order, shown

KEY = KEYS[0]
SOME = settings(max_examples=60, deadline=None)
CLAIMS = st.builds(EdgeClaims, st.booleans(), st.booleans(), st.booleans(), st.sampled_from(Conduction))


def histories(authority: st.SearchStrategy[bool]) -> st.SearchStrategy[list[EdgeEvent]]:
    return st.lists(edge_events(authority, [KEY]), min_size=1, max_size=8, unique_by=lambda event: event.id)


def merged(events: list[EdgeEvent]) -> dict[EdgeLayer, Layer]:
    layers: dict[EdgeLayer, Layer] = {}
    for event in events:
        name, stated = event.statement.layer, event.layer()
        layers[name] = merge_edges(layers[name], stated) if name in layers else stated
    return layers


@SOME
@given(found=histories(ANYBODY), random=st.randoms())
def test_order_and_repetition_make_no_difference(found: list[EdgeEvent], random: Random) -> None:
    arriving = found + random.sample(found, random.randint(0, len(found)))
    random.shuffle(arriving)
    assert merged(arriving) == merged(found)
    middle = random.randint(0, len(found))
    first, second = merged(found[:middle]), merged(found[middle:])
    for name in first.keys() & second.keys():
        assert merge_edges(first[name], second[name]) == merge_edges(second[name], first[name]) == merged(found)[name]


@SOME
@given(found=histories(ANYBODY))
def test_layers_amount_to_what_the_oracle_says(found: list[EdgeEvent]) -> None:
    state = EdgeState(merged(found))
    assert state.conduction == conduction(found)[KEY]
    effective = state.effective
    assert ({} if effective.is_deleted else {KEY: tuple(effective)}) == shown(found)


@SOME
@given(before=histories(ANYBODY), found=histories(NOBODY), claims=CLAIMS)
def test_without_authority_a_statement_never_makes_an_edge_conduct_less(
    before: list[EdgeEvent], found: list[EdgeEvent], claims: EdgeClaims
) -> None:
    for number in range(len(found)):
        less, more = (EdgeState(merged(before + found[:end]), claims) for end in (number, number + 1))
        assert more.conduction >= less.conduction


@SOME
@given(found=histories(EVERYBODY), claimed=st.booleans(), mask=st.booleans())
def test_with_authority_an_edge_conducts_what_it_shows(
    found: list[EdgeEvent],
    claimed: bool,  # noqa: FBT001
    mask: bool,  # noqa: FBT001
) -> None:
    state = EdgeState(merged(found), EdgeClaims(claimed, claimed and mask, claimed and mask))
    effective = state.effective
    passes = effective.propagates and not effective.is_deleted
    assert state.conduction == (2 - effective.masking if passes else 0)
    assert not state.is_held


def stated(tick: int, operation: EdgeOperation = "upsert", **settings: bool | None) -> EdgeEvent:
    statement = EdgeStatement("source", operation, KEY, settings)
    return EdgeEvent(f"{tick:036}", f"2026-01-01T00:00:{tick:02}.000000Z", "t", statement)


@pytest.mark.parametrize(
    "found",
    [
        [stated(1), stated(2, masking=True)],
        [stated(1), stated(2, "delete"), stated(3, masking=True)],
        [stated(1, masking=True), stated(2), stated(3, masking=True)],
    ],
)
def test_an_edge_that_was_open_once_is_not_masked_without_authority(found: list[EdgeEvent]) -> None:
    for arriving in permutations(found):
        assert EdgeState(merged(list(arriving))).conduction == Conduction.ALL


def test_an_edge_that_every_statement_masks_was_never_open() -> None:
    masked = [stated(1, masking=True), stated(2, "delete"), stated(3, masking=True)]
    for arriving in permutations(masked):
        assert EdgeState(merged(list(arriving))).conduction == Conduction.MASKED


@SOME
@given(found=histories(ANYBODY), claims=CLAIMS.filter(lambda claims: claims.claimed or not claims.mask))
def test_an_edge_conducts_at_least_what_it_shows(found: list[EdgeEvent], claims: EdgeClaims) -> None:
    state = EdgeState(merged(found), claims)
    if not state.effective.is_deleted and state.effective.propagates:
        assert state.conduction >= 2 - state.effective.masking


@SOME
@given(found=histories(ANYBODY))
def test_only_layers_that_conduct_something_else_have_a_field_more(found: list[EdgeEvent]) -> None:
    """The statement that merges layers which replace each other compares no such fields."""
    for layer in merged(in_order(found)).values():  # type: ignore[arg-type]
        extra = [key for key in layer.fields if key.startswith("$conducts:")]
        assert not extra or layer.clocks is not None


MASKED = {"source": stated(1, masking=True).layer()}


@pytest.mark.parametrize(
    ("layers", "claims", "conducts"),
    [
        ({}, EdgeClaims(), Conduction.NOTHING),
        ({}, EdgeClaims(held=Conduction.MASKED), Conduction.MASKED),
        ({}, EdgeClaims(held=Conduction.ALL), Conduction.ALL),
        (MASKED, EdgeClaims(held=Conduction.MASKED), Conduction.MASKED),
        (MASKED, EdgeClaims(held=Conduction.ALL), Conduction.ALL),
        (MASKED, EdgeClaims(claimed=True), Conduction.ALL),
        ({"user": stated(1).layer()}, EdgeClaims(claimed=True, mask=True), Conduction.ALL),
        ({"user": stated(1).layer()}, EdgeClaims(claimed=True, mask=True, mask_by_authority=True), Conduction.MASKED),
    ],
)
def test_an_edge_conducts_as_its_most_open_claim_or_layer(
    layers: dict[EdgeLayer, Layer], claims: EdgeClaims, conducts: Conduction
) -> None:
    assert EdgeState(layers, claims).conduction == conducts
