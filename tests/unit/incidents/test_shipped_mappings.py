"""What the mappings that Lily ships make of messages in their documented shapes."""

import json

from lily.incidents import IncidentStatement, SeriesPassed
from lily.intake.mapped import shipped
from tests.quality_tools import (
    NOT_NULL,
    OLD_VALIDATION,
    ROW_COUNT,
    SODA_CHECK,
    SODA_CHECKS,
    SODA_INCIDENT,
    VALIDATION,
    scan,
    validation,
)
from tests.unit.incidents.mapped import events, incident, said


def test_each_failed_expectation_is_an_incident_that_a_later_success_resolves() -> None:
    intake = shipped()["great-expectations"]
    failed, passed = said(intake, VALIDATION)
    assert isinstance(failed, IncidentStatement)
    assert (failed.source, failed.state, failed.severity) == ("great-expectations", "open", "critical")
    assert failed.title == "expect_column_values_to_not_be_null failed on column id"
    assert failed.tables == ("public.orders",)
    assert isinstance(passed, SeriesPassed)
    repaired = validation(NOT_NULL | {"success": True}, ROW_COUNT, at="2026-01-02T08:00:00+00:00")
    first, later = events(intake, VALIDATION)[0], events(intake, repaired)[0]
    assert later.statement == SeriesPassed("great-expectations", failed.series, "tickets")
    assert first.time < later.time
    again = incident(intake, validation(NOT_NULL, at="2026-01-03T08:00:00+00:00"))
    assert again.external_id != failed.external_id
    assert again.series == failed.series


def test_an_expectation_is_the_same_in_a_later_run_that_gave_it_another_id() -> None:
    """`gx.get_context()` without a project, and `suites.add_or_update`, number the expectations anew in every run."""
    intake = shipped()["great-expectations"]
    config = NOT_NULL["expectation_config"]
    renumbered = NOT_NULL | {
        "success": True,
        "expectation_config": config | {"id": "7f6d1f39-0000-4000-8000-000000000001"},
    }
    (passed,) = said(intake, validation(renumbered, at="2026-01-02T08:00:00+00:00"))
    assert passed == SeriesPassed("great-expectations", incident(intake, validation(NOT_NULL)).series, "tickets")


def test_expectations_are_distinguished_by_their_arguments() -> None:
    intake = shipped()["great-expectations"]
    old = incident(intake, OLD_VALIDATION)
    assert (old.title, old.tables) == (
        "expect_column_max_to_be_between failed on column passenger_count",
        ("taxi_data_1.csv",),
    )
    other = json.loads(json.dumps(OLD_VALIDATION))
    other["results"][0]["expectation_config"]["kwargs"] |= {"max_value": 9.0, "batch_id": "another"}
    assert incident(intake, other).series != old.series
    other["results"][0]["expectation_config"]["kwargs"] |= {"max_value": 5.0}
    assert incident(intake, other).series == old.series


def test_soda_scans_check_evaluations_and_incidents_are_understood() -> None:
    intake = shipped()["soda"]
    failed = incident(intake, scan(SODA_CHECK))
    assert (failed.state, failed.severity, failed.title, failed.tables) == (
        "open",
        "critical",
        "row_count > 0",
        ("orders",),
    )
    (passed,) = said(intake, scan(SODA_CHECK | {"outcome": "pass"}))
    assert passed == SeriesPassed("soda", failed.series, "tickets")
    assert said(intake, scan(SODA_CHECK | {"outcome": None})) == []
    warned = incident(intake, SODA_CHECKS)
    assert (warned.severity, warned.tables, warned.owner) == ("warning", ("orders",), "ann@example.org")
    tracked = incident(intake, SODA_INCIDENT)
    assert (tracked.external_id, tracked.state, tracked.series) == ("incident e1f399a3-09ea", "acknowledged", "")
    assert tracked.tables == ("customers",)
    assert said(intake, {"event": "validate", "sentAt": "2026-01-01T09:12:10.042323Z"}) == []
