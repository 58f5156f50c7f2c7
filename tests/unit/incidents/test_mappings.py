"""Mappings: paths, texts, conditions, and what the shipped ones make of messages in their documented shapes."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from standardwebhooks import Webhook

from lily.incidents import IncidentEvent, IncidentStatement, SeriesPassed, read_incident_event
from lily.incidents.statements import OPENED, UPDATED
from lily.intake.mapped import Mapped, Mapping, shipped
from lily.intake.mapped.fields import MAX_TABLES
from lily.intake.mapped.intake import MAX_MAPPED, Item
from lily.intake.mapped.paths import MAX_FOUND, read_path
from lily.intake.mapped.scopes import Message, Scope
from lily.intake.mapped.templates import read_template
from lily.intake.sources import is_taken
from lily.model import clock
from lily.model.errors import Refused
from lily.plugins import Delivery, Sender
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
from tests.unit.incidents.test_monte_carlo import JSON

NOW = "2026-02-01T00:00:00.000000Z"
SENDER = Sender("acme", "tickets")
Said = IncidentStatement | SeriesPassed


def mapped(fields: dict[str, Any] | None = None, **more: Any) -> Mapped:
    stated = {"external_id": "@.id", "title": "@.title"} | (fields or {})
    body = {"name": "tickets", "signature": {"type": "bearer"}, "fields": stated} | more
    return Mapped(Mapping.model_validate(body))


def events(intake: Mapped, body: Any) -> list[IncidentEvent]:
    delivery = Delivery(json.dumps(body).encode(), {}, NOW)
    found = [event for item in intake.decode(delivery) for event in intake.events(item, delivery, SENDER)]
    stated = [event for event in found if isinstance(event, IncidentEvent)]
    assert len(stated) == len(found)
    return [read_incident_event(event.as_cloudevent(), received=NOW) for event in stated]


def said(intake: Mapped, body: Any) -> list[Said]:
    return [event.statement for event in events(intake, body)]


def incident(intake: Mapped, body: Any) -> IncidentStatement:
    (found,) = said(intake, body)
    assert isinstance(found, IncidentStatement)
    return found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [{"a": [{"b": 1}, {"b": None}, 7], "odd key.": "x", "a-b": 2}]),
        ("$.a[0].b", [1]),
        ("$.a[-1]", [7]),
        ("$.a[*].b", [1, None]),
        ("$.a[9]", []),
        ("$.a.b", []),
        ("$['odd key.']", ["x"]),
        ('$["a-b"]', [2]),
        ("$.a-b", [2]),
        ("$.nothing.at.all", []),
        ("@", ["item"]),
        ("@.a", []),
        ("$.*", [[{"b": 1}, {"b": None}, 7], "x", 2]),
    ],
)
def test_a_path_leads_into_the_message_or_the_item(path: str, found: list[Any]) -> None:
    message = {"a": [{"b": 1}, {"b": None}, 7], "odd key.": "x", "a-b": 2}
    assert read_path(path).find(message, "item") == found


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a.b",
        "$a",
        "$.",
        "$..a",
        "$[?(@.a)]",
        "$[0:2]",
        "$['a",
        "$.a b",
        "$[(1)]",
        "$." + "a." * 300,
        "$" + ".a" * 17,
        "$[*][*][*]",
        "$[99999999]",
        "$.a\n",
    ],
)
def test_what_is_no_path_of_the_subset_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"path|character"):
        read_path(path)


def test_what_a_path_finds_is_bounded() -> None:
    wide = [list(range(1_000))] * 1_000
    assert len(read_path("$[*][*]").find(wide, None)) == MAX_FOUND


class Walked(list[Any]):
    """Counts how often somebody goes through it."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        self.times += 1
        return super().__iter__()


def test_a_path_looks_at_no_more_than_it_finds() -> None:
    wide = [Walked(range(1_000)) for _ in range(1_000)]
    assert len(read_path("$[*][*]").find(wide, None)) == MAX_FOUND
    assert sum(one.times for one in wide) <= MAX_FOUND // 1_000 + 1


def test_what_depends_on_the_message_alone_is_computed_once_for_all_of_its_items() -> None:
    """Otherwise one delivery of 2 MB could occupy a worker for hours: items times paths times its size."""
    shared = Walked([{"x": "?"}] * 100)
    message = Message({"shared": shared})
    fields = {"title": ["$.shared[*].title", "{$.shared[*].title} of {@.id}"], "tables": "$.shared[*].x"}
    condition = {"path": "$.shared[*].x", "in": ["!", "?"]}
    intake = mapped(fields, when=[condition])
    delivery = Delivery(b"", {}, NOW)
    for number in range(50):
        outcome = intake.outcome(Item(message, {"id": number}, b"%d" % number), delivery, SENDER)
        assert outcome.event is not None
    assert shared.times == len({"$.shared[*].title", "$.shared[*].x"})


@pytest.mark.parametrize("name", ["quality", "refresher", "okta", "monte-carlo"])
def test_a_mapping_cannot_speak_for_lily_or_a_plug_in(name: str) -> None:
    assert is_taken(name)
    assert not is_taken("tickets")


def test_a_list_or_object_is_written_once_however_often_a_text_names_it() -> None:
    large = {"b": [1] * 1_000, "a": 2}
    message = Message({"large": large})
    assert (message.shown(large) or "").startswith('{"a":2,"b":[1,1')
    assert message.shown(large) is message.shown(large)
    assert message.shown(True) == "true"


def test_an_item_has_few_tables() -> None:
    (found,) = said(mapped({"tables": "@.tables[*]"}), {"id": "1", "tables": [f"t{n}" for n in range(1_000)]})
    assert isinstance(found, IncidentStatement)
    assert len(found.tables) == MAX_TABLES


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ticket {$.id}", ["Ticket 17"]),
        ("{$.yes}/{$.list}/{$.text}", ['true/["b","a"]/x']),
        ("{$.nothing}", []),
        ("{$.null} is null", []),
        ("{$.null?}-{$.nothing?}-{$.id?}", ["--17"]),
        ("{{{$.id}}}", ["{17}"]),
        ("a constant", ["a constant"]),
        ("{series}", ["daily"]),
    ],
)
def test_a_text_has_values_in_braces(text: str, written: list[str]) -> None:
    message = {"id": 17, "yes": True, "list": ["b", "a"], "text": "x", "null": None}
    assert read_template(text).values(Scope(Message(message), None, "daily")) == written


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


SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = b'{"id": "1"}'


def verifies(signature: dict[str, Any], headers: dict[str, str], *secrets: str, received: str = NOW) -> bool:
    intake = mapped(signature=signature)
    return intake.verify(Delivery(BODY, headers, received), [secret.encode() for secret in secrets])


def test_standard_webhooks_are_verified_within_five_minutes() -> None:
    sent = clock.parse("2026-01-31T23:58:00.000000Z")
    signature = Webhook(SECRET).sign("msg_1", sent, BODY.decode())
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(sent.timestamp())),
        "webhook-signature": f"v1a,xyz v1,bm9uc2Vuc2U= {signature}",
    }
    scheme = {"type": "standard-webhooks"}
    assert verifies(scheme, headers, "another secret", SECRET)
    assert not verifies(scheme, headers, "another secret")
    assert not verifies(scheme, headers, SECRET, received="2026-02-01T00:04:00.000000Z")
    for name in headers:
        assert not verifies(scheme, headers | {name: ""}, SECRET)
    assert not verifies(scheme, headers | {"webhook-timestamp": "٣" * 10}, SECRET)
    unnamed = {"webhook-id": "", "webhook-signature": Webhook(SECRET).sign("", sent, BODY.decode())}
    assert not verifies(scheme, headers | unnamed, SECRET), "a receiver drops repeats by the id"


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
@pytest.mark.parametrize("encoding", ["hex", "base64"])
def test_hmacs_are_verified_in_the_stated_header(algorithm: str, encoding: str) -> None:
    digest = hmac.new(b"secret", BODY, getattr(hashlib, algorithm)).digest()
    shown = digest.hex() if encoding == "hex" else base64.b64encode(digest).decode()
    scheme = {"type": f"hmac-{algorithm}", "header": "Ticket-Sig", "prefix": "v=", "encoding": encoding}
    assert verifies(scheme, {"ticket-sig": f"v={shown}"}, "secret")
    for wrong in (shown, f"v={shown[:-2]}", f"v={shown} ", "v=", "", f"v={shown}{shown}"):
        assert not verifies(scheme, {"ticket-sig": wrong}, "secret")
    assert not verifies(scheme, {"x-signature": f"v={shown}"}, "secret")


def test_a_bearer_shows_the_secret() -> None:
    assert verifies({"type": "bearer"}, {"authorization": "Bearer secret"}, "other", "secret")
    assert not verifies({"type": "bearer"}, {"authorization": "secret"}, "secret")
    assert not verifies({"type": "bearer"}, {}, "secret")
    assert verifies({"type": "bearer", "header": "X-Api-Key"}, {"x-api-key": "secret"}, "secret")
    assert not verifies({"type": "bearer", "header": "X-Api-Key"}, {"x-api-key": "Bearer secret"}, "secret")
