"""The edges of a job do not depend on the order in which the events of its runs arrive, and only authority ends what
they conduct."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lily.model.edges import RUN_STATES
from tests.lineage_world import World
from tests.openlineage_words import column_lineage, dataset, field, run_event

HASHED = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
OUTPUTS = [
    dataset("x"),
    dataset("y"),
    dataset("x", columnLineage=column_lineage(c=[field("a", "c")])),
    dataset("x", columnLineage=column_lineage(c=[field("a", "c", HASHED)])),
    dataset("x", lineage={"inputs": [{"type": "DATASET", **dataset("b")}]}),
    dataset("x", lineage={"inputs": []}),
]


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Events of up to three runs of one job, in the order of their times."""
    inputs = st.lists(st.sampled_from("ab"), max_size=2, unique=True)
    outputs = st.lists(st.sampled_from(OUTPUTS), max_size=2)
    told = st.tuples(st.sampled_from(["r1", "r2", "r3"]), st.sampled_from(RUN_STATES), inputs, outputs)
    return [
        run_event(
            eventTime=f"2026-01-01T10:00:{tick:02}Z",
            run={"runId": run},
            eventType=state,
            inputs=[dataset(name) for name in read],
            outputs=written,
        )
        for tick, (run, state, read, written) in enumerate(draw(st.lists(told, min_size=2, max_size=7)))
    ]


def ends_again_after_another(history: list[dict[str, Any]]) -> bool:
    """Whether a run completes twice, and another one in between: then what it named before is held and not shown
    (docs/lineage.md, Limits), so arriving again makes a difference."""
    ended = [event["run"]["runId"] for event in history if event["eventType"] == "COMPLETE"]
    return any(run in ended[:at] and ended[at - 1] != run for at, run in enumerate(ended))


@pytest.mark.campaign
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(), random=st.randoms())
def test_the_order_of_events_makes_no_difference(
    make_world: Callable[[], World], history: list[dict[str, Any]], random: Random
) -> None:
    assume(not ends_again_after_another(history))
    ordered, shuffled = make_world(), make_world()
    arriving = history + history[:1]
    random.shuffle(arriving)
    for world, events in ((ordered, history), (shuffled, arriving)):
        for event in events:
            world.take(event)
    assert shuffled.edges() == ordered.edges()


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(), random=st.randoms(), decided=st.integers(0, 4))
def test_without_authority_no_event_of_a_run_makes_an_edge_conduct_less(
    make_world: Callable[[], World], history: list[dict[str, Any]], random: Random, decided: int
) -> None:
    world = make_world()
    random.shuffle(history)
    for event in history[:decided]:
        world.take(event, authorised=random.choice([True, False]))
    known = world.conduction()
    for event in [*history[decided:], *history[:1]]:
        world.take(event)
        now = world.conduction()
        assert {edge: now[edge] for edge in known if now[edge] < known[edge]} == {}
        known = now


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories())
def test_after_a_run_with_authority_the_edges_of_its_job_conduct_what_they_show(
    make_world: Callable[[], World], history: list[dict[str, Any]]
) -> None:
    world = make_world()
    last = run_event(
        eventTime="2026-01-01T11:00:00Z", run={"runId": "last"}, inputs=[dataset("a")], outputs=[dataset("z")]
    )
    for event in [*history, last]:
        world.take(event, authorised=True)
    assert world.conduction() == world.shown_conduction()
