"""The edges that events of runs add up to, in PostgreSQL."""

from collections.abc import Callable
from typing import Any

from tests.lineage_world import World
from tests.openlineage_words import column_lineage, dataset, field, run_event


def run(inputs: str = "", outputs: Any = "", at: str = "11:00", run_id: str = "r1", **more: Any) -> dict[str, Any]:
    """Datasets are named by single letters, or written out."""
    return (
        run_event(
            eventTime=f"2026-01-01T{at}:00Z",
            run={"runId": run_id},
            inputs=[dataset(name) for name in inputs],
            outputs=[dataset(given) if isinstance(given, str) else given for given in outputs],
        )
        | more
    )


def assumed(world: World) -> set[str]:
    return {f"{start}{end}" for (start, end, _), state in world.edges().items() if state["assumed"]}


def stated(world: World) -> set[str]:
    return {f"{start}{end}" for (start, end, _), state in world.edges().items() if not state["assumed"]}


def test_an_assumed_edge_is_marked_until_something_states_it(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(run("ab", "c"))
    assert (assumed(world), stated(world)) == ({"ac", "bc"}, set())
    world.edge("a", "c")
    assert (assumed(world), stated(world)) == ({"bc"}, {"ac"})


def test_an_edge_that_one_job_assumes_and_another_states_is_not_assumed(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(run("a", "c"))
    other = dataset("c", lineage={"inputs": [{"type": "DATASET", **dataset("a")}]})
    world.take(run(job={"namespace": "n", "name": "other"}, outputs=[other]))
    assert (assumed(world), stated(world)) == (set(), {"ac"})


def test_a_complete_run_that_states_no_source_ends_the_edges_of_the_one_before(
    make_world: Callable[[], World],
) -> None:
    world = make_world()
    world.take(run("a", "c", at="10:00", run_id="r0"))
    world.take(run("a", outputs=[dataset("c", lineage={"inputs": []})]))
    assert world.edges() == {}


def test_column_lineage_states_what_a_run_before_had_assumed(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(run("ab", "c", at="10:00", run_id="r0"))
    described = dataset("c", columnLineage=column_lineage(y=[field("a", "x")]))
    world.take(run("ab", outputs=[described]))
    assert (assumed(world), stated(world)) == (set(), {"ac", "a.xc.y"})
