"""Monte Carlo's messages as statements, and its two forms of signature."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.incidents import IncidentEvent, IncidentStatement, read_incident_event
from lily.intake.monte_carlo import MonteCarlo
from lily.intake.monte_carlo.intake import MonteCarloConfig
from lily.intake.monte_carlo.messages import read_message
from lily.intake.monte_carlo.signatures import is_signed
from lily.intake.reading import MAX_RAW
from lily.model.errors import Refused
from lily.plugins import Delivery, Sender
from tests.monte_carlo import (
    ANOMALY,
    INCIDENT,
    LINK,
    RULE_IN_EVENT,
    RULE_IN_PAYLOAD,
    anomaly,
    feedback,
    message,
    signed,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
NOW = "2026-01-01T00:00:00.000000Z"
INTAKE = MonteCarlo(MonteCarloConfig())


def read(body: Any) -> IncidentStatement:
    return read_message(json.loads(json.dumps(body)), "monte-carlo")


def test_an_anomaly_opens_an_incident_on_its_tables() -> None:
    said = read(anomaly("shop:public.orders", None, "SHOP.public.Orders", "shop:public.items"))
    assert (said.external_id, said.state, said.rank, said.url) == (INCIDENT, "open", 0, LINK)
    assert len(said.tables) == 2
    assert said.title == "No rows for 12 hours"
    assert said.kind == "anomaly"


@pytest.mark.parametrize("body", [RULE_IN_EVENT, RULE_IN_PAYLOAD], ids=["in the event", "in the payload"])
def test_a_custom_rule_is_read_from_both_places(body: dict[str, Any]) -> None:
    said = read(body)
    assert (said.state, said.kind, said.title, said.description) == ("open", "custom_rule", "test rule", "test rule")


def test_a_null_table_name_states_no_table() -> None:
    assert read(RULE_IN_EVENT).tables == ()
    assert read(anomaly(None)).tables == ()


@pytest.mark.parametrize("value", ["fixed", "expected", "no_action_needed", "false_positive", "False positive"])
def test_feedback_that_ends_it_resolves_it(value: str) -> None:
    assert (read(feedback(value)).state, read(feedback(value)).rank) == ("resolved", 1)


@pytest.mark.parametrize(
    ("value", "state"), [("investigating", "acknowledged"), ("work_in_progress", "acknowledged"), ("no_status", "open")]
)
def test_other_feedback_acknowledges_it_or_leaves_it_open(value: str, state: str) -> None:
    assert read(feedback(value)).state == state


@pytest.mark.parametrize(
    ("given", "severity"), [("SEV-1", "critical"), ("SEV-3", "warning"), ("sev_4", "info"), (None, None), ("?", None)]
)
def test_a_declared_severity_updates_it(given: str | None, severity: str | None) -> None:
    said = read(message("declared_alert_severity", {"declared_alert_severity": given}))
    assert (said.severity, said.state, said.rank) == (severity, None, 1)


@pytest.mark.parametrize("owner", ["ann@example.org", {"email": "ann@example.org"}])
def test_an_owner_updates_it(owner: Any) -> None:
    assert read(message("owner", {"owner": owner})).owner == "ann@example.org"


def test_an_unknown_type_is_kept_as_it_came() -> None:
    body = message("ticket_attached", {"ticket": "DATA-7"})
    said = read(body)
    assert (said.state, said.rank, said.raw) == (None, 1, body)
    assert read(message("new", {"blob": "x" * MAX_RAW})).raw is None


@pytest.mark.parametrize(
    "body", [None, [], {}, {"payload": {}}, {"payload": {"incident_id": None}}, {"payload": {"incident_id": True}}]
)
def test_a_message_without_an_incident_is_refused(body: Any) -> None:
    with pytest.raises(Refused):
        read(body)


@given(JSON, JSON, JSON)
def test_whatever_a_field_holds_the_statement_can_be_stored(one: Any, two: Any, three: Any) -> None:
    body = message("open_anomaly_incident", {"event_list": [{"table_name": one, "event_details": two}], "rule": three})
    body["payload"]["url"], body["payload"]["owner"], body["payload"]["alert_feedback"] = one, two, three
    delivery = Delivery(json.dumps(body).encode(), {}, NOW)
    try:
        (item,) = INTAKE.decode(delivery)
    except Refused:
        return  # a lone surrogate
    (event,) = INTAKE.events(item, delivery, Sender("t", "monte-carlo"))
    assert isinstance(event, IncidentEvent)
    assert read_incident_event(event.as_cloudevent(), received=delivery.received) == event


def test_a_message_with_blanks_in_other_places_is_the_same_event() -> None:
    def event_id(body: Any, **written: Any) -> str:
        delivery = Delivery(json.dumps(body, **written).encode(), {}, NOW)
        (item,) = INTAKE.decode(delivery)
        (event,) = INTAKE.events(item, delivery, Sender("t", "monte-carlo"))
        return event.id

    assert event_id(ANOMALY) == event_id(ANOMALY, indent=2) == event_id(ANOMALY, sort_keys=True)
    assert event_id(ANOMALY) != event_id(feedback("fixed"))


@pytest.mark.parametrize("url_encoded", [True, False])
def test_both_forms_of_the_signature_are_verified(*, url_encoded: bool) -> None:
    body, headers = signed(ANOMALY, "secret", url_encoded=url_encoded)
    shown = headers["x-mcd-signature"]
    assert is_signed(body, shown, [b"other", b"secret"])
    assert is_signed(body, shown.upper(), [b"secret"])
    assert not is_signed(body, shown, [b"other"])
    assert not is_signed(body, shown, [])
    assert not is_signed(body.replace(b"orders", b"items"), shown, [b"secret"])
    assert not is_signed(body, "", [b"secret"])
    assert not is_signed(body, "ä" * 128, [b"secret"])


@pytest.mark.parametrize(
    "body", [b"", b"[1]", b"\xff", b"[" * 100_000, b'{"a": ' + b"1" * 5000 + b"}", b'{"a": "\\ud800"}']
)
def test_a_body_without_the_vendors_form_is_not_verified_and_raises_nothing(body: bytes) -> None:
    assert not is_signed(body, "0" * 128, [b"secret"])
