"""A run that claims what the last one claimed costs no write, and the result is the same as if it had been written."""

from collections.abc import Callable
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.lineage.runs import ENDED
from lily.model.edges import RUN_STATES
from tests.lineage_world import World
from tests.openlineage_words import column_lineage, dataset, field, run_event

SOME = [dataset("x", columnLineage=column_lineage(c=[field("a", "c")], d=[field("b", "c")]))]
MASKED = {"type": "DIRECT", "subtype": "AGGREGATION", "masking": True}
OUTPUTS = [
    SOME,
    [dataset("x")],
    [dataset("x", columnLineage=column_lineage(c=[field("a", "c")]))],
    [dataset("x", columnLineage=column_lineage(c=[field("a", "c", MASKED)]))],
    [dataset("x", lineage={"inputs": []})],
]
CLAIMS = """
select c.job_id, case when c.run = j.claims_run then j.run else c.run end, c.from_id, c.to_id, c.type, c.masking,
       (case when c.run = j.claims_run then j.completed_at else c.at end)::varchar(27), c.assumed, c.aside
from claims c left join jobs j on j.tenant_id = c.tenant_id and j.job_id = c.job_id where c.tenant_id = %s
"""

Step = tuple[str, Any]


def completed(second: int, run: str, outputs: list[Any] = SOME, state: str = "COMPLETE") -> dict[str, Any]:
    return run_event(
        eventTime=f"2026-01-01T10:00:{second:02}Z",
        run={"runId": run},
        eventType=state,
        inputs=[dataset("a"), dataset("b")],
        outputs=outputs,
    )


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Mostly runs that repeat each other, with other events, edits of people and claims of another job in between."""
    runs = st.sampled_from(["r1", "r2", "r3", "r4"])
    same = st.tuples(st.just("run"), runs, st.just("COMPLETE"), st.just(SOME))
    other = st.tuples(st.just("run"), runs, st.sampled_from(RUN_STATES), st.sampled_from(OUTPUTS))
    start = st.tuples(st.just("run"), runs, st.just("START"), st.just(list[Any]()))
    edit = st.tuples(st.sampled_from(["unlink", "edge", "other job"]))
    steps: list[Any] = draw(st.lists(same | same | start | other | other | edit, min_size=3, max_size=9))
    return [_step(second, *step) for second, step in enumerate(steps)]


def _step(second: int, kind: str, run: str = "", state: str = "", outputs: list[Any] = SOME) -> Step:
    return (kind, completed(second, run, outputs, state)) if kind == "run" else (kind, second)


def _ends_twice(history: list[Step]) -> bool:
    """Claims of a run that ended are deleted once another run has completed. If it completes again after that, they are
    not there any more: a limit that docs/lineage.md states."""
    ended = [about["run"]["runId"] for kind, about in history if kind == "run" and about["eventType"] in ENDED]
    return len(ended) > len(set(ended))


def act(world: World, step: Step) -> None:
    kind, about = step
    if kind == "run":
        world.take(about)
    elif kind == "other job":
        world.take(completed(about, "o1") | {"job": {"namespace": "airflow", "name": "other"}})
    elif kind == "unlink":
        world.unlink("a", "x")
    else:
        world.edge("a", "x", masking=True)


def claims(owner: psycopg.Connection[Any], world: World) -> list[Any]:
    names = {world.id_of(name): name for name in ("a", "b", "x", "a.c", "b.c", "x.c", "x.d", "job:airflow/other")}
    rows = owner.execute(CLAIMS, [world.tenant]).fetchall()
    return sorted(tuple(names.get(str(value), value if i else "job") for i, value in enumerate(row)) for row in rows)


def forget(owner: psycopg.Connection[Any], world: World) -> None:
    owner.execute("update jobs set claims_digest = null where tenant_id = %s", [world.tenant])


def compare_ways(
    make_world: Callable[[], World], owner: psycopg.Connection[Any], history: list[Step], random: Random
) -> None:
    short, long, shuffled = make_world(), make_world(), make_world()
    arriving = history + random.sample(history, random.randint(0, 2))
    random.shuffle(arriving)
    for step in history:
        act(short, step)
        act(long, step)
        forget(owner, long)
    assert short.edges() == long.edges()
    assert claims(owner, short) == claims(owner, long)
    timed = {"unlink", "edge"}  # these have the time at which they are applied
    if not {kind for kind, _ in history} & timed and not _ends_twice(history):
        for step in arriving:
            act(shuffled, step)
        assert shuffled.edges() == short.edges()


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(), random=st.randoms(use_true_random=False))
def test_the_result_is_the_same_with_the_short_way_without_it_and_in_any_order(
    make_world: Callable[[], World], owner: psycopg.Connection[Any], history: list[Step], random: Random
) -> None:
    compare_ways(make_world, owner, history, random)


@pytest.mark.campaign
@pytest.mark.timeout(900)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(), random=st.randoms(use_true_random=False))
def test_the_same_for_many_more_histories(
    make_world: Callable[[], World], owner: psycopg.Connection[Any], history: list[Step], random: Random
) -> None:
    compare_ways(make_world, owner, history, random)


@pytest.mark.parametrize("outputs", [SOME, [dataset("x")]])
def test_a_run_that_repeats_the_last_one_writes_no_claim(
    make_world: Callable[[], World], owner: psycopg.Connection[Any], outputs: list[Any]
) -> None:
    world = make_world()
    world.take(completed(1, "r1", outputs))
    before, edges = places(owner, world), world.edges()
    world.take(completed(2, "r2", [], "START"))
    world.take(completed(3, "r2", outputs))
    world.take(completed(4, "r3", outputs))
    assert places(owner, world) == before
    assert len(before) == len(edges) > 0
    assert world.edges() == edges
    assert {claim[1] for claim in claims(owner, world)} == {"r3"}


def test_a_run_that_no_longer_names_an_edge_ends_it_after_runs_that_repeated_it(
    make_world: Callable[[], World], owner: psycopg.Connection[Any]
) -> None:
    world = make_world()
    for second, run in enumerate(["r1", "r2", "r3"], 1):
        world.take(completed(second, run))
    world.take(completed(4, "r4", [dataset("x", columnLineage=column_lineage(c=[field("a", "c")]))]))
    assert {(start, end) for start, end, _ in world.edges()} == {("a", "x"), ("a.c", "x.c")}
    assert {claim[1] for claim in claims(owner, world)} == {"r4"}
    world.take(completed(5, "r5"))
    assert len(world.edges()) == 4


@pytest.mark.parametrize("state", ["START", "RUNNING", "FAIL"])
def test_claims_that_were_taken_over_are_of_the_newer_run_when_another_run_makes_some(
    make_world: Callable[[], World], owner: psycopg.Connection[Any], state: str
) -> None:
    world = make_world()
    for second, run in enumerate(["r1", "r2", "r3"], 1):
        world.take(completed(second, run))
    world.take(completed(4, "r4", state=state))
    assert {(claim[1], claim[6][:19]) for claim in claims(owner, world)} == {
        ("r3", "2026-01-01T10:00:03"),
        ("r4", "2026-01-01T10:00:04"),
    }
    world.take(completed(5, "r3", [dataset("x", columnLineage=column_lineage(c=[field("a", "c")]))]))
    assert len(world.edges()) == 4


def test_an_event_of_the_run_that_first_made_the_claims_does_not_end_them(
    make_world: Callable[[], World], owner: psycopg.Connection[Any]
) -> None:
    world = make_world()
    for second, run in enumerate(["r1", "r2"], 1):
        world.take(completed(second, run, [dataset("x")]))
    edges = world.edges()
    world.take(completed(3, "r1", [dataset("x", lineage={"inputs": []})], state="OTHER"))
    assert world.edges() == edges
    assert {claim[1] for claim in claims(owner, world)} == {"r2"}


def places(owner: psycopg.Connection[Any], world: World) -> list[Any]:
    """Where each claim is stored; PostgreSQL moves a row that is written."""
    return sorted(owner.execute("select ctid::text from claims where tenant_id = %s", [world.tenant]).fetchall())
