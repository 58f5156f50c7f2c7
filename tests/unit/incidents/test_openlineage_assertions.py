"""Assertions of OpenLineage events as statements about incidents."""

from typing import Any

import pytest

from lily.incidents import IncidentEvent, IncidentStatement, SeriesPassed
from lily.intake.openlineage.conversion import convert
from lily.intake.openlineage.naming import Naming
from lily.model.ids import asset_id
from lily.plugins import Sender

NOW = "2026-01-01T00:00:00.000000Z"
ORDERS = "shop.public.orders"


def run(*assertions: dict[str, Any], run_id: str = "r1", holder: str = "inputFacets", **more: Any) -> dict[str, Any]:
    facets = {"dataQualityAssertions": {"assertions": list(assertions)}}
    return {
        "eventTime": NOW,
        "eventType": "COMPLETE",
        "run": {"runId": run_id},
        "job": {"namespace": "dbt", "name": "test"},
        "inputs": [{"namespace": "postgres://h:1", "name": ORDERS, holder: facets}],
        **more,
    }


def said(event: dict[str, Any]) -> list[IncidentEvent]:
    return convert(event, Sender("t", "dbt"), Naming(), received=NOW).incidents


def failed(**more: Any) -> dict[str, Any]:
    return {"assertion": "not_null", "success": False, **more}


@pytest.mark.parametrize("holder", ["inputFacets", "facets"])
def test_a_failed_assertion_opens_an_incident_on_its_dataset(holder: str) -> None:
    (event,) = said(run(failed(column="id", severity="error"), holder=holder))
    statement = event.statement
    assert isinstance(statement, IncidentStatement)
    assert (statement.source, statement.state, statement.severity) == ("openlineage", "open", "critical")
    assert statement.assets == (asset_id("t", ORDERS),)
    assert statement.title == f"not_null failed on {ORDERS}.id"
    assert (event.tenant, event.time, statement.by) == ("t", NOW, "dbt")


def test_an_assertion_that_holds_passes_the_series_of_those_that_failed() -> None:
    opened, other = said(run(failed(column="id"), failed(column="total")))
    (passed,) = said(run({"assertion": "not_null", "success": True, "column": "id"}, run_id="r2"))
    assert isinstance(passed.statement, SeriesPassed)
    assert isinstance(opened.statement, IncidentStatement)
    assert isinstance(other.statement, IncidentStatement)
    assert passed.statement.series == opened.statement.series != other.statement.series


def of_series(events: list[IncidentEvent]) -> dict[str, str]:
    """What is stated of each series: opened or passed."""
    return {
        said.series: "opened" if isinstance(said, IncidentStatement) else "passed"
        for said in (event.statement for event in events)
        if isinstance(said, IncidentStatement | SeriesPassed)
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"name": "city_known"}, {"name": "city_not_test"}),
        ({"params": {"values": ["a"]}}, {"params": {"values": ["b"]}}),
        ({"name": "not_null", "params": {"where": "x"}}, {"name": "not_null", "params": {"where": "y"}}),
    ],
)
def test_two_tests_of_one_kind_on_one_column_are_two_incidents(one: dict[str, Any], other: dict[str, Any]) -> None:
    opened = of_series(said(run(failed(column="city", **one), failed(column="city", **other))))
    assert list(opened.values()) == ["opened", "opened"]
    held = {"assertion": "not_null", "success": True, "column": "city", **other}
    again = of_series(said(run(failed(column="city", **one), held, run_id="r2")))
    assert again == dict(zip(opened, ["opened", "passed"], strict=True))


def test_an_incident_from_before_names_counted_is_resolved_once_all_tests_of_its_kind_hold() -> None:
    (before,) = of_series(said(run(failed(column="city"))))
    held = [{"assertion": "not_null", "success": True, "column": "city", "name": name} for name in "ab"]
    assert of_series(said(run(*held, run_id="r2")))[before] == "passed"
    assert before not in of_series(said(run(held[0], failed(column="city", name="b"), run_id="r2")))


def test_an_incident_shows_the_name_of_its_test_and_what_was_expected_and_found() -> None:
    told = {"name": "city_known", "expected": "0", "actual": 9, "description": "Only cities we know."}
    (event,) = said(run(failed(column="city", **told)))
    assert isinstance(event.statement, IncidentStatement)
    assert event.statement.title == f"not_null (city_known) failed on {ORDERS}.city"
    assert event.statement.description is not None
    assert event.statement.description.endswith("job:dbt/test: expected 0, actual 9. Only cities we know.")


def test_every_run_that_fails_is_an_incident_of_its_own_and_a_repeat_is_the_same_message() -> None:
    (first,), (again,), (second,) = said(run(failed())), said(run(failed())), said(run(failed(), run_id="r2"))
    assert first == again
    assert first.incident_id != second.incident_id


def test_an_assertion_that_was_not_evaluated_states_nothing() -> None:
    assert said(run({"assertion": "not_null", "success": None})) == []
    assert said(run(inputs=None)) == []


@pytest.mark.parametrize(
    "given", [{"success": False}, {"assertion": 7, "success": True}, {"assertion": "a", "success": "no"}]
)
def test_a_malformed_assertion_spoils_its_facet_alone(given: dict[str, Any]) -> None:
    found = convert(run(failed(), given), Sender("t", "dbt"), Naming(), received=NOW)
    assert found.incidents == []
    assert found.assets
    (warning,) = found.warnings
    assert warning.entity.startswith("inputs[0].inputFacets.dataQualityAssertions.assertions")
