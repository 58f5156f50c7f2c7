"""The limits of what is stated, as numbers: a limit that a test reads from the code is never too large."""

from typing import Any

import pytest

from lily.lineage.attribute_rules import AttributeRule, DerivedValue, StatedValue, enriched_value, items_of
from lily.lineage.runs import RunLineage, keep_facets
from lily.model import ids
from lily.model.columns import COLUMNS_STATED, read_columns_event
from lily.model.edges import (
    EDGES_CLAIMED,
    ClaimsEvent,
    RunDatasets,
    read_claims_event,
    read_edge_statement,
)
from lily.model.envelopes import cloud_event
from lily.model.errors import Refused
from lily.model.statements import read_statement
from lily.model.usage import USAGE_REPORTED, read_usage_event
from lily.settings import Limits

NOW = "2026-11-15T08:36:00.000000Z"
JOB = ids.asset_id("default", "job")


def table(**attributes: Any) -> list[str]:
    """The codes with which a table with these attributes is refused."""
    data = {"entity_type": "table", "attributes": {"name": "t"} | attributes}
    return codes(lambda: read_statement(data, tenant="default"))


def codes(read: Any) -> list[str]:
    try:
        read()
    except Refused as refused:
        return [problem.code for problem in refused.problems]
    return []


def event(type_: str, data: dict[str, Any]) -> dict[str, Any]:
    return cloud_event(type_, event_id="e", time=NOW, tenant="default", data=data)


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def unique(number: int) -> list[str]:
    return [f"n{index}" for index in range(number)]


@pytest.mark.parametrize(
    ("largest", "too_large", "code"),
    [
        ({"name": "n" * 512}, {"name": "n" * 513}, "TOO_LONG"),
        ({"owner": "n" * 512}, {"owner": "n" * 513}, "TOO_LONG"),
        ({"qualified_name": "n" * 1_024}, {"qualified_name": "n" * 1_025}, "TOO_LONG"),
        ({"parent": "n" * 1_024, "qualified_name": "q"}, {"parent": "n" * 1_025, "qualified_name": "q"}, "TOO_LONG"),
        ({"description": "d" * 65_536}, {"description": "d" * 65_537}, "TOO_LONG"),
        ({"tags": ["t" * 128]}, {"tags": ["t" * 129]}, "TOO_LONG"),
        ({"tags": unique(500)}, {"tags": unique(501)}, "TOO_LONG"),
        ({"business_terms": unique(500)}, {"business_terms": unique(501)}, "TOO_LONG"),
        ({"notes": nested(16)}, {"notes": nested(17)}, "TOO_DEEP"),
        ({"notes": {"k" * 256: 1}}, {"notes": {"k" * 257: 1}}, "INVALID_VALUE"),
    ],
)
def test_an_attribute_may_be_this_large_and_not_larger(
    largest: dict[str, Any], too_large: dict[str, Any], code: str
) -> None:
    assert table(**largest) == []
    assert set(table(**too_large)) == {code}


def test_an_asset_has_at_most_500_attributes() -> None:
    assert table(**dict.fromkeys(unique(499), 1)) == []
    assert len(table(**dict.fromkeys(unique(501), 1))) == 1


@pytest.mark.parametrize(
    ("largest", "too_large"),
    [
        ({"relationship_type": "t" * 64}, {"relationship_type": "t" * 65}),
        ({"from": "n" * 1_024}, {"from": "n" * 1_025}),
        ({"to": "n" * 1_024}, {"to": "n" * 1_025}),
    ],
)
def test_an_edge_has_names_of_this_length_and_not_longer(largest: dict[str, Any], too_large: dict[str, Any]) -> None:
    edge = {"from": "a", "to": "b", "relationship_type": "derived-from"}
    assert codes(lambda: read_edge_statement(edge | largest, tenant="default")) == []
    assert codes(lambda: read_edge_statement(edge | too_large, tenant="default")) == ["TOO_LONG"]


def claims(**more: Any) -> list[str]:
    data = {"job": JOB, "run": "r", "complete": True, "edges": [], **more}
    return codes(lambda: read_claims_event(event(EDGES_CLAIMED, data), received=NOW))


@pytest.mark.parametrize(
    ("name", "one", "most"),
    [
        ("edges", [ids.asset_id("default", "a"), JOB, "derived-from", False], 20_000),
        ("inputs", JOB, 20_000),
        ("outputs", JOB, 20_000),
        ("schemas", [JOB, "s", {}], 20_000),
        ("names", "n", 40_000),
    ],
)
def test_an_event_of_a_run_has_lists_of_this_length_and_not_longer(name: str, one: Any, most: int) -> None:
    assert claims(**{name: [one] * most}) == []
    assert claims(**{name: [one] * (most + 1)}) == ["INVALID_VALUE"]


def test_a_run_has_a_name_of_128_characters_at_most() -> None:
    assert claims(run="r" * 128) == []
    assert claims(run="r" * 129) == ["INVALID_VALUE"]


def test_a_record_states_500_columns_at_most() -> None:
    def columns(number: int) -> list[str]:
        data = {"parent": "shop.t", "columns": {name: {} for name in unique(number)}}
        return codes(lambda: read_columns_event(event(COLUMNS_STATED, data), received=NOW))

    assert (columns(500), columns(501)) == ([], ["INVALID_VALUE"])


def test_a_usage_event_counts_a_milliard_queries_at_most() -> None:
    def used(queries: int, event_id: str = "e") -> list[str]:
        data = {"asset_id": "shop.t", "query_count": queries, "event_id": event_id}
        return codes(lambda: read_usage_event(event(USAGE_REPORTED, data), received=NOW))

    assert (used(1_000_000_000), used(1_000_000_001)) == ([], ["INVALID_VALUE"])
    assert (used(1, "e" * 128), used(1, "e" * 129)) == ([], ["TOO_LONG"])


def of_run(number: int, **more: Any) -> ClaimsEvent:
    time = f"2026-01-01T00:00:00.{number:06}Z"
    return ClaimsEvent(f"e{number}", time, "default", JOB, "r", complete=False, claims=(), state="RUNNING", **more)


def test_of_a_run_the_first_5000_datasets_of_each_role_are_kept() -> None:
    run = RunLineage()
    run.add(of_run(1, datasets=RunDatasets(tuple(unique(6_000)), tuple(unique(6_000)))))
    run.add(of_run(2, datasets=RunDatasets(("n0", "n5999"), ())))
    assert (len(run.inputs), len(run.outputs)) == (5_000, 5_000)
    assert run.inputs["n0"] > run.inputs["n1"], "what is kept is still brought up to date"


def test_of_a_run_nothing_is_assumed_if_it_would_be_more_edges_than_the_budget_of_a_run() -> None:
    def assumed(inputs: int, outputs: int) -> int:
        run = RunLineage()
        datasets = RunDatasets(tuple(unique(inputs)), tuple(f"o{index}" for index in range(outputs)))
        run.add(of_run(1, datasets=datasets))
        return len(run.assumed())

    assert (assumed(50, 100), assumed(50, 101)) == (5_000, 0)


def test_of_a_run_the_newest_500_facets_are_kept() -> None:
    kept: dict[str, list[Any]] = {}
    for number in range(502):
        keep_facets(kept, of_run(number, facets={f"p{number}": number}))
    assert len(kept) == 500
    assert {"p0", "p1"}.isdisjoint(kept)


def test_a_rule_adds_as_much_to_a_list_as_an_event_can_hold() -> None:
    rule = AttributeRule("r", "r", "terms", "add")

    def enriched(own: list[str], derived: list[str]) -> list[str]:
        values = {item: DerivedValue(item, "a", 1) for item in derived}
        return list(enriched_value(rule, StatedValue(own), values) or [])

    assert len(enriched(["own"], unique(600))) == 500
    assert enriched(unique(500), ["more"]) == []
    long = [f"{index:03}" + "x" * 10_000 for index in range(40)]
    assert len(enriched([], long)) == 26, "256 KiB"


def test_the_name_of_an_item_is_never_longer_than_an_index_entry() -> None:
    (short,), (long,) = items_of("x" * 198), items_of("x" * 199)
    assert (short, len(long)) == (f'"{"x" * 198}"', 105)
    assert items_of("x" * 199).keys() != items_of("x" * 200).keys()


def test_the_api_limits_what_a_caller_may_ask_for() -> None:
    """A change of one is a change of docs/operations.md too."""
    expected = {
        "body_bytes": 1 << 20,
        "bulk_bytes": 4 << 30,
        "bulk_errors": 1_000,
        "bulk_rejections": 100_000,
        "bulk_bodies": 8,
        "future_skew_seconds": 300,
        "page": 1_000,
        "wait_seconds": 60,
        "connections": 200,
        "replays": 8,
        "header_bytes": 64 << 10,
        "header_seconds": 15.0,
        "body_idle_seconds": 30.0,
        "subscriptions": 10_000,
        "channels": 200,
        "quality_policies": 1_000,
    }
    limits = Limits().model_dump()
    assert {name: limits[name] for name in expected} == expected
