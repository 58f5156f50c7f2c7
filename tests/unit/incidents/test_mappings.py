"""Mappings: items, conditions and fields, and what is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lily.incidents import IncidentStatement
from lily.incidents.statements import OPENED, UPDATED
from lily.intake.mapped import shipped
from lily.intake.mapped.fields import MAX_TABLES
from lily.intake.mapped.intake import MAX_MAPPED
from lily.intake.sources import is_taken
from lily.model.errors import Refused
from lily.plugins import Delivery
from tests.unit.incidents.mapped import NOW, events, incident, mapped, said
from tests.unit.incidents.test_monte_carlo import JSON


@pytest.mark.parametrize("name", ["quality", "refresher", "okta", "monte-carlo"])
def test_a_mapping_cannot_speak_for_lily_or_a_plug_in(name: str) -> None:
    assert is_taken(name)
    assert not is_taken("tickets")


def test_an_item_has_few_tables() -> None:
    (found,) = said(mapped({"tables": "@.tables[*]"}), {"id": "1", "tables": [f"t{n}" for n in range(1_000)]})
    assert isinstance(found, IncidentStatement)
    assert len(found.tables) == MAX_TABLES


def test_an_item_becomes_an_incident_with_the_stated_fields() -> None:
    intake = mapped(
        {
            "state": {"path": "@.status", "values": {"New": "open", "*": "acknowledged"}},
            "severity": {"path": "@.priority", "values": {"1": "critical", "*": "info"}},
            "title": ["@.missing", "Ticket {@.id} of {$.team}"],
            "description": "@.text",
            "url": "@.link",
            "kind": "ticket",
            "owner": "@.owner.mail",
            "tables": "@.tables[*].name",
            "time": "@.at",
        },
        items="$.tickets[*]",
    )
    tables = [{"name": "shop.orders"}, {"name": None}, {}, {"name": "SHOP.orders"}, {"name": " "}, 7]
    ticket = {"id": 1, "status": "new", "priority": 1, "text": "No rows", "link": "https://x/1", "tables": tables}
    (event,) = events(intake, {"team": "dwh", "tickets": [ticket | {"at": "2026-01-31T09:00:00+01:00", "owner": {}}]})
    assert event.time == "2026-01-31T08:00:00.000000Z"
    statement = event.statement
    assert isinstance(statement, IncidentStatement)
    assert (statement.source, statement.external_id, statement.state) == ("tickets", "1", "open")
    assert (statement.severity, statement.title, statement.kind) == ("critical", "Ticket 1 of dwh", "ticket")
    assert (statement.url, statement.owner, statement.tables) == ("https://x/1", None, ("SHOP.orders",))
    assert incident(intake, {"tickets": [{"id": 2, "status": "weird"}]}).state == "acknowledged"


def test_an_item_whose_state_is_not_listed_or_to_which_a_condition_does_not_apply_is_ignored() -> None:
    intake = mapped(
        {"state": {"path": "@.ok", "values": {"false": "open"}}},
        items="$[*]",
        when=[
            {"path": "@.kind", "in": ["data", 1]},
            {"path": "@.draft", "exists": False},
            {"path": "$", "exists": True},
        ],
    )
    items = [
        {"id": 1, "ok": False, "kind": "data"},
        {"id": 2, "ok": True, "kind": "data"},
        {"id": 3, "kind": "data"},
        {"id": 4, "ok": False, "kind": "other"},
        {"id": 5, "ok": False, "kind": True},
        {"id": 6, "ok": False, "kind": 1, "draft": None},
        {"id": 7, "ok": False, "kind": 1, "draft": "x"},
        None,
        "text",
    ]
    assert [one.external_id for one in said(intake, items) if isinstance(one, IncidentStatement)] == ["1", "6"]


@pytest.mark.parametrize(
    ("given", "severity"), [("Critical", "critical"), ("warning", "warning"), ("INFO", "info"), ("urgent", None)]
)
def test_a_severity_without_a_table_is_taken_in_any_case_or_not_at_all(given: str, severity: str | None) -> None:
    assert incident(mapped({"severity": "@.level"}), {"id": 1, "level": given}).severity == severity


def test_what_changes_an_incident_outweighs_what_opened_it() -> None:
    intake = mapped({"state": {"path": "@.s", "values": {"new": "open", "taken": "acknowledged", "done": "resolved"}}})
    ranks = [incident(intake, {"id": 1, "s": state}).rank for state in ("new", "taken", "done")]
    assert ranks == [OPENED, UPDATED, UPDATED]


def test_every_item_is_an_event_of_its_own_and_a_repeated_delivery_has_the_same_events() -> None:
    body = [{"id": 1}, {"id": 2}, {"id": 1}]
    ids = [event.id for event in events(mapped(items="$[*]"), body)]
    assert len(set(ids)) == len(body)
    assert ids == [event.id for event in events(mapped(items="$[*]"), body)]
    assert set(ids).isdisjoint(event.id for event in events(mapped(items="$[*]"), [*body, {"id": 3}]))


def test_an_item_without_an_id_is_refused() -> None:
    with pytest.raises(Refused, match="external_id"):
        said(mapped(), {"id": None})


def test_links_and_times_that_cannot_be_used_are_left_out() -> None:
    intake = mapped({"url": "@.link", "time": "@.at"})
    for at in ("9999-01-01T00:00:00Z", "yesterday", 17, "2026-01-01"):
        (event,) = events(intake, {"id": "1", "link": "javascript:alert(1)", "at": at})
        assert event.time == NOW
        assert isinstance(event.statement, IncidentStatement)
        assert event.statement.url is None


def test_ids_that_are_too_long_stay_different() -> None:
    ids = {incident(mapped(), {"id": "x" * 600 + end}).external_id for end in "ab"}
    assert len(ids) == 2
    assert {len(one.encode()) <= 512 for one in ids} == {True}


def test_too_many_items_are_refused() -> None:
    with pytest.raises(Refused, match="items"):
        said(mapped(items="$[*]"), [{"id": 1}] * (MAX_MAPPED + 1))


def test_deep_json_is_refused_or_read() -> None:
    intake = mapped({"title": "{@.a}"})
    assert incident(intake, json.loads('{"id": "1", "a": ' + "[" * 200 + "]" * 200 + "}")).raw is None
    for deep in (b'{"id": "1", "a": ' + b"[" * 900 + b"]" * 900 + b"}", b"[" * 100_000):
        with pytest.raises(Refused):
            intake.decode(Delivery(deep, {}, NOW))


@given(body=JSON)
def test_whatever_a_message_holds_it_is_read_or_refused(body: Any) -> None:
    for intake in (mapped({"tables": "$.*", "owner": "{$.a?}x"}, items=["$[*]", "$.results[*]"]), *shipped().values()):
        try:
            said(intake, body)
        except Refused:
            continue


@given(results=st.lists(JSON, max_size=3), meta=JSON)
def test_whatever_a_validation_result_holds_it_is_read_or_refused(results: list[Any], meta: Any) -> None:
    for body in ({"results": results, "meta": meta}, {"checks": results, "checkResults": meta}, {"incident": meta}):
        for intake in shipped().values():
            try:
                said(intake, body)
            except Refused:
                continue


@pytest.mark.parametrize(
    "fields",
    [
        {"state": {"path": "@.s", "values": {"a": "shut"}}},
        {"state": {"path": "@.s", "values": {"a": "passed"}}},
        {"state": {"path": "@.s", "values": {}}},
        {"severity": {"path": "@.s", "values": {"a": "fatal"}}},
        {"title": []},
        {"title": ["@.a"] * 17},
        {"title": "{@.a}" * 41},
        {"title": "{@.a"},
        {"title": "a}"},
        {"title": "{a}"},
        {"series": "{series}"},
        {"unknown": "@.a"},
    ],
)
def test_a_mapping_that_cannot_work_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        mapped(fields)
