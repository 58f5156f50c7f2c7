"""Which statements and claims stop a protective tag on an edge."""

import uuid
from typing import Any

import pytest

from lily.lineage.edge_protection import EdgeState, may_stop_tags, protected_edge
from lily.model.edges import EdgeEvent, EdgeKey, EdgeLayer, EdgeOperation, EdgeStatement

KEY = EdgeKey("a", "b", "derived-from")
PII = {"pii": True}  # masking stops it
GDPR = {"gdpr": False}


def event(
    operation: EdgeOperation = "upsert", *, layer: EdgeLayer = "user", tick: int = 9, **settings: Any
) -> EdgeEvent:
    statement = EdgeStatement(layer, operation, KEY, settings)
    return EdgeEvent(str(uuid.UUID(int=tick)), f"2026-01-01T00:00:{tick:02}.000000Z", "tenant", statement)


def stated(tags: dict[str, bool], **settings: Any) -> EdgeState:
    """An edge that its source states."""
    return EdgeState({"source": event(layer="source", tick=1, **settings).layer()}, False, False, tags)


def test_deleting_blocking_and_masking_stop_tags() -> None:
    edge = stated(PII)
    assert edge.effect_of(event("delete")) == "edge.deleted"
    assert edge.effect_of(event(propagates=False)) == "edge.blocked"
    assert edge.effect_of(event(masking=True)) == "edge.masked"
    assert edge.effect_of(event()) is None


def test_masking_stops_only_the_tags_that_are_stopped_by_masking() -> None:
    assert stated(GDPR).effect_of(event(masking=True)) is None
    assert stated(GDPR | PII).effect_of(event(masking=True)) == "edge.masked"


def test_an_edge_without_tags_needs_no_protection() -> None:
    assert stated({}).effect_of(event("delete")) is None
    assert stated({}).effect_of_claims(claimed=False) is None


def test_an_event_that_an_older_time_makes_ineffective_stops_nothing() -> None:
    edge = EdgeState({"user": event(tick=5, propagates=True).layer()}, False, False, PII)
    assert edge.effect_of(event(tick=3, propagates=False)) is None
    assert edge.effect_of(event(tick=7, propagates=False)) == "edge.blocked"


def test_what_was_stopped_before_needs_no_authorisation_again() -> None:
    edge = stated(PII)
    edge.merge(event(propagates=False, tick=5))
    assert edge.effect_of(event("delete")) is None
    assert edge.effect_of(event(masking=True)) is None


def test_a_claimed_edge_survives_its_source_and_is_lost_with_its_last_claim() -> None:
    claimed = EdgeState({}, claimed=True, claims_mask=False, tags=PII)
    assert claimed.effect_of(event("delete", layer="source")) is None
    assert claimed.effect_of_claims(claimed=False) == "edge.deleted"
    assert claimed.effect_of_claims(claimed=True) == "edge.masked"


def test_an_edge_that_a_person_states_survives_its_last_claim() -> None:
    edge = EdgeState({"user": event().layer()}, claimed=True, claims_mask=False, tags=PII)
    assert edge.effect_of_claims(claimed=False) is None


@pytest.mark.parametrize(
    ("statement", "may"),
    [
        (event(), False),
        (event(propagates=True), False),
        (event(propagates=None), True),  # clearing it may give way to a blocking source
        (event(masking=False), False),
        (event(masking=None), True),
        (event("delete"), True),
    ],
)
def test_only_some_statements_need_a_look_at_the_edge(statement: EdgeEvent, may: bool) -> None:  # noqa: FBT001
    assert may_stop_tags(statement.statement) is may


def test_the_refusal_names_what_is_done_to_which_edge() -> None:
    problem = protected_edge("edge.masked", KEY)
    assert (problem.code, problem.entity) == ("PROTECTED", "a→b derived-from")
    assert problem.description == "masking an edge that a protective tag passes requires the scope policy:write"
