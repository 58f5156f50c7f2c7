"""What the events of a run add up to."""

import uuid
from dataclasses import replace
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.lineage.assumed_edges import MAX_ASSUMED
from lily.lineage.claims import merge_completions, newest_claims
from lily.lineage.runs import MAX_FACETS, RunLineage, add_events, keep_facets
from lily.model.edges import NO_DATASETS, RUN_STATES, Claim, ClaimsEvent, EdgeKey, RunDatasets

A, B, C, D = (str(uuid.UUID(int=number)) for number in range(1, 5))


def event(
    tick: int, run: str, state: str, datasets: RunDatasets = NO_DATASETS, claims: tuple[Claim, ...] = ()
) -> ClaimsEvent:
    time, event_id = f"2026-01-01T00:00:{tick:02}.000000Z", str(uuid.UUID(int=tick))
    complete = state == "COMPLETE"
    return ClaimsEvent(event_id, time, "t", "job", run, complete, claims, datasets=datasets, state=state)


@st.composite
def histories(draw: st.DrawFn) -> list[ClaimsEvent]:
    some = st.lists(st.sampled_from([A, B, C, D]), max_size=2, unique=True).map(tuple)
    datasets = st.builds(RunDatasets, some, some, some)
    edges = st.builds(EdgeKey, st.just(A), st.sampled_from([C, D]), st.sampled_from(["derived-from", "influences"]))
    claims = st.lists(st.builds(Claim, edges, st.booleans(), st.just(False)), max_size=2).map(tuple)
    told = st.tuples(st.sampled_from(["r1", "r2"]), st.sampled_from(RUN_STATES), datasets, claims)
    return [event(tick, *drawn) for tick, drawn in enumerate(draw(st.lists(told, max_size=6)))]


@given(histories(), st.randoms(), st.integers(0, 6))
def test_order_batches_and_repetition_make_no_difference(
    history: list[ClaimsEvent], random: Random, middle: int
) -> None:
    shuffled = history + history[:2]
    random.shuffle(shuffled)
    in_two, _ = add_events(add_events({}, shuffled[:middle])[0], shuffled[middle:])
    runs, _ = add_events({}, history)
    assert in_two == runs
    assert {run: RunLineage.of(found.as_document(), found.facets) for run, found in runs.items()} == runs
    completions, _ = merge_completions({}, history, runs)
    assert merge_completions({}, shuffled, runs)[0] == completions
    ordered, reordered = newest_claims(history, completions, runs), newest_claims(shuffled, completions, runs)
    assert {claim: found[:2] + found[3:] for claim, found in ordered.in_force.items()} == {
        claim: found[:2] + found[3:] for claim, found in reordered.in_force.items()
    }


def test_a_run_that_others_make_too_large_to_assume_anything_ends_nothing_with_authority() -> None:
    stated = (Claim(EdgeKey(A, C, "derived-from"), masking=False, assumed=False),)
    begun = replace(event(1, "r1", "COMPLETE", RunDatasets((A, B), (C, D)), stated), authorised=True)
    many = tuple(str(uuid.UUID(int=number)) for number in range(100, 100 + MAX_ASSUMED // 2 + 1))
    runs, _ = add_events({}, [begun])
    (run,) = runs.values()
    assert (len(run.assumed()), run.completes_by_authority) == (2, begun.clock)
    (flooded,) = add_events({}, [begun, event(2, "r1", "OTHER", RunDatasets(many, (D, "x")))])[0].values()
    assert (flooded.assumed(), flooded.completes_by_authority) == ({}, None)


@pytest.mark.parametrize(
    ("states", "state"),
    [
        (["START"], "START"),
        (["START", "RUNNING"], "RUNNING"),
        (["START", "COMPLETE", "RUNNING", "OTHER"], "COMPLETE"),
        (["FAIL", "COMPLETE"], "COMPLETE"),
        (["COMPLETE", "ABORT"], "ABORT"),
        (["OTHER"], "OTHER"),
    ],
)
def test_the_newest_state_counts_and_an_end_is_final(states: list[str], state: str) -> None:
    runs, _ = add_events({}, [event(tick, "r", given) for tick, given in enumerate(states)])
    assert [run.state for run in runs.values()] == [state]


@pytest.mark.parametrize("too_many", [0, 1])
def test_edges_are_assumed_up_to_a_number_in_all(too_many: int) -> None:
    inputs, number = tuple(map(str, range(100))), MAX_ASSUMED // 100 + too_many
    datasets = RunDatasets(inputs, tuple(map(str, range(1_000, 1_000 + number))))
    (run,) = add_events({}, [event(1, "r", "COMPLETE", datasets)])[0].values()
    assert len(run.assumed()) == (0 if too_many else MAX_ASSUMED)


def test_outputs_that_are_explained_do_not_count_against_that_number() -> None:
    inputs, outputs = tuple(map(str, range(200))), tuple(map(str, range(1_000, 1_200)))
    explained = RunDatasets(inputs, outputs, outputs[1:])
    (run,) = add_events({}, [event(1, "r", "COMPLETE", explained)])[0].values()
    assert {key.to_id for key in run.assumed()} == {outputs[0]}


def test_more_datasets_than_can_be_combined_are_not_assumed_to_be() -> None:
    many = RunDatasets(tuple(map(str, range(141))), tuple(map(str, range(1_000, 1_141))))
    (run,) = add_events({}, [event(1, "r", "COMPLETE", many)])[0].values()
    assert run.assumed() == {}
    assert run.completes is None


def test_of_too_many_facets_the_newest_are_kept_in_whatever_order_they_arrive() -> None:
    half = MAX_FACETS // 2
    facets: list[dict[str, object]] = [{f"run:{tick}.{number}": {} for number in range(half)} for tick in range(3)]
    events = [replace(event(tick, "r", "RUNNING"), facets=facets[tick]) for tick in range(3)]
    for arriving in permutations(events):
        kept: dict[str, list[object]] = {}
        for one in arriving:
            keep_facets(kept, one)
        assert kept.keys() == {*facets[1], *facets[2]}


def test_a_run_completes_with_its_newest_completion_in_any_order() -> None:
    completions = [event(tick, "r", "COMPLETE", claims=(Claim(EdgeKey(A, C, "derived-from")),)) for tick in (1, 3, 2)]
    for order in permutations(completions):
        (run,) = add_events({}, order)[0].values()
        assert run.completes == completions[1].clock


def test_what_a_run_claimed_before_another_one_completed_counts_from_its_own_completion() -> None:
    """The runs of a job may overlap: what was stated at START holds if this run completes last."""
    early = event(1, "slow", "START", claims=(Claim(EdgeKey(A, C, "derived-from")),))
    other = event(2, "quick", "COMPLETE", claims=(Claim(EdgeKey(B, C, "derived-from")),))
    last = event(3, "slow", "COMPLETE", claims=(Claim(EdgeKey(A, D, "derived-from")),))
    for order in permutations([early, other, last]):
        runs, counting = add_events({}, order)
        completions, _ = merge_completions({}, counting, runs)
        found = newest_claims(counting, completions, runs).in_force
        assert {(run, key.to_id) for _, run, key in found} == {("slow", C), ("slow", D)}


def test_the_newest_facet_of_a_place_is_kept_in_any_order() -> None:
    events = [replace(event(tick, "r", "RUNNING"), facets={"run/x": {"tick": tick}}) for tick in (1, 2, 3)]
    for order in permutations(events):
        (run,) = add_events({}, order)[0].values()
        assert run.facets == {"run/x": [events[2].clock, {"tick": 3}]}


ADDED = {
    "an explanation": event(2, "r", "RUNNING", RunDatasets(outputs=(B,), explained=(B,))),
    "a source": event(2, "r", "RUNNING", RunDatasets((C,), (B,)), (Claim(EdgeKey(C, B, "derived-from")),)),
    "a failure": event(4, "r", "FAIL"),
    "too many inputs": event(2, "r", "RUNNING", RunDatasets(tuple(map(str, range(MAX_ASSUMED + 1))))),
}


@pytest.mark.parametrize("added", ADDED)
def test_a_run_ends_nothing_with_authority_if_others_take_away_what_is_assumed_of_it(added: str) -> None:
    own = [event(1, "r", "START", RunDatasets((A,), (B,))), event(3, "r", "COMPLETE")]
    authorised = [replace(one, authorised=True) for one in own]
    for order in permutations([*authorised, ADDED[added]]):
        ((_, run),) = add_events({}, order)[0].items()
        assert run.completes_by_authority is None
    ((_, alone),) = add_events({}, authorised)[0].items()
    assert alone.completes_by_authority == authorised[-1].clock


@st.composite
def shared_runs(draw: st.DrawFn) -> list[ClaimsEvent]:
    """A run whose author has authority, and to which others add datasets."""
    stated = Claim(EdgeKey(C, B, "derived-from"))
    written = st.sampled_from([(B,), (), (B, D)])
    datasets = st.builds(RunDatasets, st.sampled_from([(A,), (), (C,)]), written)
    claims = st.sampled_from([(stated,), ()])
    of_author = st.tuples(st.just("r"), st.sampled_from(["COMPLETE", "START"]), datasets, claims)
    read = st.sampled_from([(C,), (A,), (), (D, C)])
    of_others = st.tuples(st.just("r"), st.sampled_from(["START", "RUNNING"]), st.builds(RunDatasets, read, written))
    told = draw(st.lists(st.one_of(of_author, of_others), min_size=2, max_size=5))
    return [replace(event(tick, *one), authorised=len(one) == 4) for tick, one in enumerate(told)]


@given(shared_runs(), st.randoms())
def test_a_run_that_ends_something_with_authority_claims_all_that_its_author_meant(
    history: list[ClaimsEvent], random: Random
) -> None:
    own, shuffled = [one for one in history if one.authorised], random.sample(history, len(history))
    ((_, run),) = add_events({}, shuffled)[0].items()
    assert add_events({}, history)[0] == {("t", "job", "r"): run}
    if run.completes_by_authority is not None:
        ((_, alone),) = add_events({}, own)[0].items()
        assert alone.assumed().keys() <= run.assumed().keys()


def test_an_input_of_others_explains_nothing_by_authority_until_the_author_names_it() -> None:
    claims = (Claim(EdgeKey(C, B, "derived-from")),)
    own = replace(event(3, "r", "COMPLETE", RunDatasets((A,), (B,)), claims), authorised=True)
    foreign = event(1, "r", "START", RunDatasets((C,)))
    known = replace(foreign, authorised=True)
    for order in permutations([own, foreign]):
        ((_, run),) = add_events({}, order)[0].items()
        assert (run.assumed(), run.completes_by_authority) == ({}, None)
    for order in permutations([own, foreign, known]):
        ((_, run),) = add_events({}, order)[0].items()
        assert (run.assumed(), run.completes_by_authority) == ({}, own.clock)
