"""Columns that the newest schema of a producer no longer has are retired."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from tests.lineage_world import World
from tests.openlineage_words import dataset, run_event, schema


def wrote(columns: str, minute: int, **more: Any) -> dict[str, Any]:
    return run_event(
        eventTime=f"2026-01-01T10:{minute:02}:00Z", outputs=[dataset("t", schema=schema(*columns))], **more
    )


def live(world: World) -> str:
    """The names of the columns that are not deleted."""
    return "".join(sorted(name.removeprefix("t.") for name in world.live("column")))


def test_a_column_that_is_gone_is_deleted_and_comes_back_with_a_newer_schema(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(wrote("xyz", 1))
    world.take(wrote("x", 2))
    assert world.state_what_rules_say() == 2
    assert live(world) == "x"
    world.take(wrote("xy", 3))
    assert world.state_what_rules_say() == 0
    assert live(world) == "xy"


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_arrival_makes_no_difference(make_world: Callable[[], World], order: tuple[int, ...]) -> None:
    world = make_world()
    events = [wrote("xy", 1), wrote("xz", 2), wrote("xw", 3)]
    for number in order:
        world.take(events[number])
        world.state_what_rules_say()
    assert live(world) == "wx"


def test_columns_of_another_producer_stay(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(wrote("xy", 1))
    world.take(wrote("xz", 2, producer="https://example.org/other"))
    assert world.state_what_rules_say() == 0
    world.take(wrote("x", 3))
    world.state_what_rules_say()
    assert live(world) == "xz"


def test_a_column_that_another_producer_still_has_stays(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(wrote("xy", 1, producer="https://example.org/other"))
    world.take(wrote("xy", 2))
    world.take(wrote("x", 3))
    assert world.state_what_rules_say() == 0


def test_a_header_probe_leaves_nothing_behind(make_world: Callable[[], World]) -> None:
    world = make_world()
    parent = {"parent": {"run": {"runId": "app"}, "job": {"namespace": "spark", "name": "app"}}}
    for number, (job, columns) in enumerate([("app.probe", ["value"]), ("app.load", ["id", "email"])]):
        event = wrote("", number, job={"namespace": "spark", "name": job}, run={"runId": job, "facets": parent})
        world.take(event | {"inputs": [dataset("t", schema=schema(*columns))], "outputs": []})
    world.state_what_rules_say()
    assert world.live("column") == {"t.id", "t.email"}


def test_a_retired_column_still_conducts_its_protective_tags(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(wrote("xy", 1))
    world.person("t.y", "upsert", attributes={"tags": ["PII"]})
    world.asset("copy")
    world.edge("t.y", "copy")
    world.take(wrote("x", 2))
    world.state_what_rules_say()
    world.settle()
    assert live(world) == "x"
    assert world.derived("pii") == {"copy"}


def test_a_dropped_table_loses_its_columns_and_returns_with_a_newer_event(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(wrote("xy", 1))
    world.take(wrote("", 2) | {"outputs": [dataset("t", lifecycleStateChange={"lifecycleStateChange": "DROP"})]})
    world.state_what_rules_say()
    assert (live(world), world.live("table")) == ("", set())
    world.take(wrote("x", 3))
    assert (live(world), world.live("table")) == ("x", {"t"})


def test_tags_follow_a_table_to_its_new_name(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.take(wrote("xy", 1))
    world.person("t.y", "upsert", attributes={"tags": ["PII"]})
    facet = {"lifecycleStateChange": "RENAME", "previousIdentifier": dataset("t")}
    renamed = dataset("u", lifecycleStateChange=facet, schema=schema("x", "y"))
    world.take(wrote("", 2) | {"outputs": [renamed]})
    world.take(wrote("", 3) | {"outputs": [dataset("v")], "inputs": [dataset("u")]})  # the next run of the job
    world.state_what_rules_say()
    world.settle()
    assert (world.live("table"), world.live("column")) == ({"u", "v"}, {"u.x", "u.y"})
    assert world.derived("pii") == {"u.y"}
