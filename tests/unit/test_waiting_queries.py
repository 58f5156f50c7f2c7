"""SQL that only the start of a run has: when it joins the event that completes the run."""

import uuid
from itertools import permutations
from typing import Any

import pytest

from lily.lineage.runs import RunLineage, add_events
from lily.model.edges import NO_DATASETS, Claim, ClaimsEvent, EdgeKey, RunDatasets
from lily.model.run_queries import QuerySender, RunQuery

A, B, C = (str(uuid.UUID(int=number)) for number in range(1, 4))
SQL = RunQuery("select x from a", "", "", {}, "", complete=False)
OTHER_SQL = SQL._replace(text="select x from b")


def event(tick: int, state: str, query: RunQuery | None = None, *datasets: Any, **more: Any) -> ClaimsEvent:
    time, event_id = f"2026-01-01T00:00:{tick:02}.000000Z", str(uuid.UUID(int=tick))
    complete = state == "COMPLETE" and query is None
    of_run = RunDatasets(*datasets) if datasets else NO_DATASETS
    return ClaimsEvent(event_id, time, "t", "j", "r", complete, state=state, query=query, datasets=of_run, **more)


def stated(*claims: Claim, tick: int = 2, explained: tuple[str, ...] = ()) -> ClaimsEvent:
    return event(tick, "COMPLETE", None, (), (B,), explained, claims=claims)


def added(*events: ClaimsEvent) -> tuple[RunLineage, list[ClaimsEvent]]:
    """One event per batch: in between, the run is stored."""
    run, counting = RunLineage(), list[ClaimsEvent]()
    for one in events:
        runs, counted = add_events({("t", "j", "r"): RunLineage.of(run.as_document(), run.facets)}, [one])
        (run,) = runs.values()
        counting += counted
    return run, counting


def plain(tick: int, state: str, *datasets: Any) -> ClaimsEvent:
    return event(tick, state, None, *datasets, claims=())


def start(tick: int = 1, query: RunQuery | None = SQL) -> ClaimsEvent:
    return event(tick, "START", query, (A,), (B,), claims=())


def queries(events: list[ClaimsEvent]) -> list[RunQuery | None]:
    return [one.query for one in events]


def test_the_query_of_a_start_waits_for_the_completion_and_then_completes_the_run() -> None:
    run, counting = added(start(), plain(2, "RUNNING"), plain(3, "COMPLETE", (), (C,)))
    assert queries(counting) == [None, None, SQL._replace(complete=True)]
    assert counting[-1].datasets == RunDatasets((A,), (B, C))
    assert run.completed_at is None
    assert (run.query, run.queried) == (None, True)


def test_both_in_one_batch_are_as_one_after_the_other() -> None:
    runs, counting = add_events({}, [start(), plain(2, "COMPLETE")])
    assert (runs["t", "j", "r"], counting) == added(start(), plain(2, "COMPLETE"))


def test_a_start_that_arrives_after_the_completion_does_not_wait() -> None:
    run, counting = added(plain(2, "COMPLETE", (), (B,)), start())
    assert queries(counting) == [None, SQL]
    assert run.completed_at is not None
    assert run.query is None


@pytest.mark.parametrize("end", ["FAIL", "ABORT", "OTHER"])
def test_the_query_of_a_run_that_does_not_complete_is_not_analyzed(end: str) -> None:
    _, counting = added(start(), plain(2, end, (), (B,)))
    assert queries(counting) == [None, None]


def test_the_query_of_the_completion_comes_before_that_of_the_start() -> None:
    for events in permutations([start(), event(2, "COMPLETE", OTHER_SQL, (), (B,), claims=())]):
        run, counting = added(*events)
        assert [query for query in queries(counting) if query] == [OTHER_SQL]
        assert run.query is None


def test_of_two_starts_the_newest_counts() -> None:
    for first in permutations([start(1), start(2, OTHER_SQL)]):
        _, counting = added(*first, plain(3, "COMPLETE"))
        assert counting[-1].query == OTHER_SQL._replace(complete=True)


@pytest.mark.parametrize("end", [stated(Claim(EdgeKey(A, B, "derived-from"))), stated(explained=(B,))])
def test_a_completion_that_states_the_lineage_needs_no_query(end: ClaimsEvent) -> None:
    run, counting = added(start(), end)
    assert queries(counting) == [None, None]
    assert run.completed_at == end.clock
    assert run.query is None


def test_a_statement_that_leaves_an_input_out_does_not_replace_the_query() -> None:
    _, counting = added(start(), stated(Claim(EdgeKey(C, B, "derived-from"))))
    assert counting[-1].query is not None


def test_a_star_has_more_columns_than_are_stated() -> None:
    star = SQL._replace(text="select *, x + 1 as y from a")
    _, counting = added(start(query=star), stated(Claim(EdgeKey(A, B, "derived-from"))))
    assert counting[-1].query == star._replace(complete=True)
    _, counting = added(start(query=star), stated(explained=(B,)))
    assert counting[-1].query is None


def test_an_influence_explains_no_content() -> None:
    _, counting = added(start(), stated(Claim(EdgeKey(C, B, "influences"))))
    assert counting[-1].query is not None


def test_what_the_query_adds_completes_the_run() -> None:
    end = stated(Claim(EdgeKey(A, B, "derived-from")), tick=3)
    run, counting = added(start(), plain(2, "COMPLETE", (), (B,)), end)
    assert queries(counting)[-1] is None
    assert run.completed_at == end.clock


def test_a_start_that_is_sent_again_is_not_analyzed_again() -> None:
    _, counting = added(start(), plain(2, "COMPLETE"), start())
    assert [query is not None for query in queries(counting)] == [False, True, False]


def test_a_run_without_sql_is_as_it_was() -> None:
    events = [start(query=None), plain(2, "COMPLETE")]
    run, counting = added(*events)
    assert all(counted is given for counted, given in zip(counting, events, strict=True))
    assert {"query", "queried"}.isdisjoint(run.as_document())


def test_the_query_of_a_start_keeps_its_sender() -> None:
    sent = SQL._replace(sender=QuerySender("bob", ("etl",), ""))
    _, counting = added(start(query=sent), plain(2, "COMPLETE"))
    assert counting[-1].query == sent._replace(complete=True)


def test_in_whatever_order_events_arrive_the_query_is_analyzed_once() -> None:
    for events in permutations([start(), start(), plain(2, "RUNNING"), plain(3, "COMPLETE", (), (B,))]):
        run, counting = added(*events)
        assert sum(query is not None for query in queries(counting)) == 1
        assert (run.query, run.queried) == (None, True)


@pytest.mark.parametrize(("starts", "completes"), [(False, True), (True, False), (True, True)])
def test_both_who_start_and_complete_a_run_have_to_be_authorised(starts: bool, completes: bool) -> None:  # noqa: FBT001 - both are parameters of the test
    first = event(1, "START", SQL, (A,), (B,), claims=(), authorised=starts)
    _, counting = added(first, event(2, "COMPLETE", None, (), (B,), claims=(), authorised=completes))
    assert counting[-1].query is not None
    assert counting[-1].authorised is (starts and completes)


@pytest.mark.parametrize("foreign", [((C,), ()), ((), (C,)), ((A,), (B,))])
def test_a_query_that_is_read_with_datasets_of_others_has_no_authority(foreign: tuple[Any, Any]) -> None:
    """Names without a schema are of the schema of a dataset of the run."""
    begun = event(1, "START", SQL, (A,), (B,), claims=(), authorised=True)
    completed = event(3, "COMPLETE", None, (), (B,), claims=(), authorised=True)
    _, counting = added(event(2, "START", None, *foreign, claims=()), begun, completed)
    assert counting[-1].query is not None
    assert counting[-1].authorised is (foreign == ((A,), (B,)))
