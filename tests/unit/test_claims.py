"""Which claims of a job's runs are in force."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lily.lineage.assumed_edges import assumed_claims
from lily.lineage.claims import Completion, NewestClaim, merge_completions, newest_claims
from lily.lineage.repeated_claims import claims_digest
from lily.model.edges import Claim, ClaimsEvent, EdgeKey, RunDatasets

EDGE = EdgeKey("a", "b", "derived-from")
OTHER_EDGE = EdgeKey("b", "c", "derived-from")
JOB = ("tenant", "job")


def claims(tick: int, run: str, *edges: Claim, complete: bool = True) -> ClaimsEvent:
    event_id = str(uuid.UUID(int=tick))
    return ClaimsEvent(event_id, f"2026-01-01T00:00:{tick:02}.000000Z", *JOB, run, complete, edges)


@st.composite
def histories(draw: st.DrawFn) -> list[ClaimsEvent]:
    """Runs of one job, in the order of their clocks."""
    edges = st.builds(Claim, st.sampled_from([EDGE, OTHER_EDGE]), st.booleans(), st.just(False))
    some = st.lists(edges, max_size=2, unique_by=lambda claim: claim.key)
    runs = st.tuples(st.sampled_from(["r1", "r2", "r3"]), some, st.booleans())
    return [
        claims(tick, run, *named, complete=complete)
        for tick, (run, named, complete) in enumerate(draw(st.lists(runs, max_size=8)))
    ]


def in_force(events: Sequence[ClaimsEvent]) -> set[tuple[str, EdgeKey, bool]]:
    completions, _ = merge_completions({}, events)
    return {(run, key, claim.masking) for (_, run, key), claim in newest_claims(events, completions).in_force.items()}


@given(histories(), st.randoms())
def test_the_order_of_arrival_makes_no_difference(history: list[ClaimsEvent], random: Random) -> None:
    shuffled = list(history)
    random.shuffle(shuffled)
    assert merge_completions({}, shuffled)[0] == merge_completions({}, history)[0]
    assert in_force(shuffled) == in_force(history)


@given(histories())
def test_a_claim_is_in_force_until_another_run_completes_later(history: list[ClaimsEvent]) -> None:
    expected = set()
    for event in history:
        for key, masking, _ in event.claims:
            later = [other for other in history if other.clock > event.clock]
            ended = any(other.complete and other.claims and other.run != event.run for other in later)
            restated = any(other.run == event.run and key in {claim.key for claim in other.claims} for other in later)
            if not ended and not restated:
                expected.add((event.run, key, masking))
    assert in_force(history) == expected


def test_of_the_completions_of_other_runs_the_newest_counts_in_any_order() -> None:
    history = [claims(tick, run, Claim(EDGE)) for tick, run in ((5, "r1"), (3, "r2"), (2, "r3"))]
    for order in permutations(history):
        found = merge_completions({}, order)[0][JOB]
        assert (found.run, found.at, found.others_at) == ("r1", history[0].clock, history[1].clock)


def test_a_completion_without_edges_ends_no_claims() -> None:
    assert in_force([claims(1, "r1", Claim(EDGE)), claims(2, "r2")]) == {("r1", EDGE, False)}


def test_an_event_that_names_an_edge_twice_masks_it_only_if_it_does_so_both_times() -> None:
    assert in_force([claims(1, "r1", Claim(EDGE, masking=True), Claim(EDGE))]) == {("r1", EDGE, False)}


def test_of_several_completions_in_a_batch_the_newest_event_is_reported() -> None:
    first, second = claims(1, "r1", Claim(EDGE)), claims(2, "r2", Claim(EDGE))
    completions, completing = merge_completions({}, [second, first])
    assert completions == {JOB: Completion("r2", second.clock, first.clock)}
    assert completing == {JOB: second}


def test_what_a_run_states_comes_before_what_is_assumed_of_it_later() -> None:
    stated = claims(1, "r1", Claim(EDGE, masking=True))
    assumed = replace(claims(2, "r1"), datasets=RunDatasets(inputs=("a",), outputs=("b",)))
    assert in_force([assumed]) == {("r1", EDGE, False)}
    assert in_force([stated, assumed]) == in_force([assumed, stated]) == {("r1", EDGE, True)}


def test_a_dataset_that_a_run_reads_and_writes_is_not_assumed_to_be_derived_from_itself() -> None:
    found = assumed_claims(RunDatasets(inputs=("a", "b"), outputs=("b",)), ())
    assert found == [Claim(EDGE, assumed=True)]


def test_only_plain_claims_of_one_moment_are_recognised_when_they_are_repeated() -> None:
    event = claims(1, "r1", Claim(EDGE))
    plain = NewestClaim(event.clock, masking=False, event=event)
    assert claims_digest({EDGE: plain}, event.clock) is not None
    for other in (plain._replace(at="0"), plain._replace(masking=True), plain._replace(aside=True)):
        assert claims_digest({EDGE: other}, event.clock) is None
