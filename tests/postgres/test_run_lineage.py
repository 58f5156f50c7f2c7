"""The edges that events of runs add up to, in PostgreSQL."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

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


def started(inputs: str = "", outputs: Any = "", at: str = "10:00", run_id: str = "r1", **more: Any) -> dict[str, Any]:
    return run(inputs, outputs, at, run_id, eventType="START", **more)


def test_inputs_at_the_start_and_outputs_at_the_end_make_edges(make_world: Callable[[], World]) -> None:
    for order in permutations([started("a", at="10:00"), run("b", "", "10:30", eventType="RUNNING"), run("", "c")]):
        world = make_world()
        for event in order:
            world.take(event)
        assert assumed(world) == {"ac", "bc"}


def test_nothing_is_assumed_of_a_run_that_only_started_or_failed(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(started("a", "c"))
    assert world.edges() == {}
    world.take(run("a", "c", "10:10", eventType="RUNNING"))
    assert assumed(world) == {"ac"}
    world.take(run("", "", "10:20", eventType="FAIL"))
    assert world.edges() == {}


def test_what_a_later_event_states_replaces_what_was_assumed_before(make_world: Callable[[], World]) -> None:
    described = dataset("c", columnLineage=column_lineage(y=[field("a", "x")]))
    for order in permutations([run("ab", "c", "10:00", eventType="RUNNING"), run(outputs=[described])]):
        world = make_world()
        for event in order:
            world.take(event)
        assert (assumed(world), stated(world)) == (set(), {"ac", "a.xc.y"})


def test_column_lineage_of_one_event_counts_for_the_inputs_of_another(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(started("ab"))
    world.take(run(outputs=[dataset("c", columnLineage=column_lineage(y=[field("a", "x")]))]))
    assert (assumed(world), stated(world)) == (set(), {"ac", "a.xc.y"})


def test_a_run_that_names_its_datasets_only_at_the_start_replaces_the_run_before(
    make_world: Callable[[], World],
) -> None:
    earlier = [started("a", "c", "08:00", "r0"), run("", "", "09:00", "r0")]
    for order in permutations([*earlier, started("b", "c"), run("", "", "11:00")]):
        world = make_world()
        for event in order:
            world.take(event)
        assert assumed(world) == {"bc"}


def test_of_two_runs_that_overlap_the_one_that_completes_last_counts(make_world: Callable[[], World]) -> None:
    def described(source: str) -> dict[str, Any]:
        return dataset("c", lineage={"inputs": [{"type": "DATASET", **dataset(source)}]})

    long = [started(outputs=[described("a")], at="08:00", run_id="long"), run(at="12:00", run_id="long")]
    short = [started(outputs=[described("b")], at="09:00", run_id="short"), run(at="10:00", run_id="short")]
    for order in permutations([*long, *short]):
        world = make_world()
        for event in order:
            world.take(event)
        assert stated(world) == {"ac"}
    world = make_world()
    for event in [*long[:1], *short]:
        world.take(event)
    assert stated(world) == {"bc"}  # as long as the other has not completed
    world.take(run(at="12:00", run_id="long", eventType="FAIL"))
    assert stated(world) == {"bc"}


def test_an_edge_that_a_run_withdraws_without_authority_still_conducts(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(run("a", "c", "10:00", eventType="RUNNING"))
    world.person("a", "upsert", attributes={"tags": ["PII"]})
    world.settle()
    assert world.derived("pii") == {"c"}
    for minute in ("10:20", "10:30"):
        world.take(run("", "", minute, eventType="FAIL"))
        world.settle()
        assert (assumed(world), world.derived("pii")) == (set(), {"c"})


def test_a_run_withdraws_an_edge_with_authority(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.person("a", "upsert", attributes={"tags": ["PII"]})
    world.take(run("a", "c", "10:00", eventType="RUNNING"), authorised=True)
    world.take(run("", "", "10:20", eventType="FAIL"), authorised=True)
    world.settle()
    assert (assumed(world), world.derived("pii")) == (set(), set())


@pytest.mark.parametrize("facet", [{"lineage": {"inputs": []}}, {"columnLineage": column_lineage(x=[field("z", "x")])}])
def test_what_others_add_to_a_run_with_authority_ends_no_protection(
    make_world: Callable[[], World], facet: dict[str, Any]
) -> None:
    world = make_world()
    world.take(run("a", "c", "10:00", "r0"), authorised=True)
    world.person("a", "upsert", attributes={"tags": ["PII"]})
    world.take(run("a", "c", "11:00", eventType="START"), authorised=True)
    world.take(run("z", [dataset("c", **facet)], "11:10", eventType="RUNNING"), by="mallory")
    world.take(run("", "", "11:20"), authorised=True)
    world.settle()
    assert "c" in world.derived("pii")
    world.take(run("z", [dataset("c", **facet)], "12:00", "r2"), authorised=True)
    world.settle()
    assert "c" not in world.derived("pii")


@pytest.mark.parametrize(("facet", "keeps"), [({}, False), ({"lineage": {"inputs": []}}, True)])
def test_a_start_by_somebody_else_takes_the_authority_of_a_run_only_with_lineage(
    make_world: Callable[[], World], facet: dict[str, Any], *, keeps: bool
) -> None:
    """Datasets alone add what is assumed, and take nothing away: what the run claims is what it would have claimed, or
    more. So the completion ends what its author left out."""
    world = make_world()
    world.take(run("a", "c", "10:00", "r0"), authorised=True)
    world.person("a", "upsert", attributes={"tags": ["PII"]})
    world.take(run("z", [dataset("c", **facet)], "11:00", eventType="START"), by="mallory")
    world.take(run("z", [dataset("c", lineage={"inputs": []})], "11:20"), authorised=True)
    world.settle()
    assert world.derived("pii") == ({"c"} if keeps else set())


def test_an_input_that_somebody_else_adds_explains_no_output_by_authority(make_world: Callable[[], World]) -> None:
    """What the author of the run states to come from `z`, which it does not read, is assumed to come from `a`. With `z`
    among the inputs it is not."""
    described = dataset("c", columnLineage=column_lineage(x=[field("z", "x")]))
    for order in permutations([("", started("z", at="11:00")), ("ada", run("a", [described], "11:20"))]):
        world = make_world()
        world.take(run("a", "c", "10:00", "r0"), authorised=True)
        world.person("a", "upsert", attributes={"tags": ["PII"]})
        for author, event in order:
            world.take(event, by=author or "mallory", authorised=bool(author))
        world.settle()
        assert "c" in world.derived("pii")


def test_a_start_by_somebody_else_adds_to_what_is_assumed(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.person("a", "upsert", attributes={"tags": ["PII"]})
    world.take(run("a", "c", "10:00", "r0"), authorised=True)
    world.take(run("a", "", "11:00", eventType="START"), by="mallory")
    world.take(run("z", "c", "11:20"), authorised=True)
    world.settle()
    assert assumed(world) == {"ac", "zc"}
    assert world.derived("pii") == {"c"}


def test_a_newer_design_of_a_job_replaces_the_older_one(make_world: Callable[[], World]) -> None:
    def design(inputs: str, at: str) -> dict[str, Any]:
        event = run(inputs, "c", at)
        return {name: value for name, value in event.items() if name not in {"run", "eventType", "schemaURL"}}

    for order in permutations([design("a", "08:00"), design("b", "09:00"), design("d", "10:00")]):
        world = make_world()
        for event in order:
            world.take(event)
        assert assumed(world) == {"dc"}
