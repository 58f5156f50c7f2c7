"""Statements and webhooks as events of the log."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.incidents import (
    IncidentEvent,
    IncidentStatement,
    SeriesPassed,
    WebhookEvent,
    content_id,
    incident_id,
    read_incident_event,
    read_statement,
    read_webhook_event,
)
from lily.incidents.schemas import SCHEMAS
from lily.model.errors import Refused
from lily.model.ids import asset_id, looks_like_uuid

TIME = "2026-01-01T00:00:00.000000Z"
FULL = IncidentStatement(
    "monte-carlo",
    "f838",
    "open",
    "critical",
    title="Freshness",
    description="Nothing was loaded for 12 h",
    url="https://example.org/incidents/f838",
    kind="freshness",
    owner="ann@example.org",
    tables=("shop:public.orders",),
    assets=(asset_id("t", "shop.public.orders"),),
    rank=1,
    by="monte-carlo",
    note="n",
    series="s",
    raw={"type": "new"},
)


@pytest.mark.parametrize("statement", [FULL, IncidentStatement("s", "1"), SeriesPassed("openlineage", "j/d/a", "ann")])
def test_a_statement_is_read_as_it_was_written(statement: IncidentStatement | SeriesPassed) -> None:
    event = IncidentEvent("e1", TIME, "t", statement, correlation="c")
    assert read_incident_event(event.as_cloudevent(), received=TIME) == event


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("incident-event", IncidentEvent("e1", TIME, "t", FULL)),
        ("incident-event", IncidentEvent("e1", TIME, "t", IncidentStatement("s", "1"))),
        ("series-passed-event", IncidentEvent("e1", TIME, "t", SeriesPassed("s", "c"))),
        ("webhook-event", WebhookEvent.of("t", "monte-carlo", {}, b"{}", TIME)),
    ],
)
def test_an_event_fits_its_schema(name: str, event: IncidentEvent | WebhookEvent) -> None:
    jsonschema_rs.meta.validate(SCHEMAS[name])
    jsonschema_rs.validator_for(SCHEMAS[name]).validate(event.as_cloudevent())


@given(st.binary(max_size=200))
def test_a_webhook_is_read_as_it_came(body: bytes) -> None:
    event = WebhookEvent.of("t", "monte-carlo", {"x-mcd-signature": "00"}, body, TIME)
    assert read_webhook_event(event.as_cloudevent(), received=TIME) == event


def test_a_replayed_webhook_is_the_same_event_in_its_tenant_alone() -> None:
    first = WebhookEvent.of("t", "monte-carlo", {}, b"{}", TIME)
    assert first.id == WebhookEvent.of("t", "monte-carlo", {"x": "y"}, b"{}", "2026-01-02T00:00:00.000000Z").id
    assert first.id not in {content_id("u", "monte-carlo", b"{}"), content_id("t", "other", b"{}")}
    assert content_id("t", "a", b"bc") != content_id("t", "ab", b"c")


def test_an_incident_has_one_id_per_tenant_source_and_external_id() -> None:
    found = {incident_id(*parts) for parts in [("t", "s", "1"), ("u", "s", "1"), ("t", "r", "1"), ("t", "s", "2")]}
    assert len(found) == 4
    assert all(looks_like_uuid(one) for one in found)
    assert incident_id("t", "s", "1") == incident_id("t", "s", "1")


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"source": "s"},
        {"source": "s", "external_id": ""},
        {"source": "s", "external_id": "1", "state": "closed"},
        {"source": "s", "external_id": "1", "severity": "high"},
        {"source": "s", "external_id": "1", "url": "javascript:alert(1)"},
        {"source": "s", "external_id": "1", "tables": "orders"},
        {"source": "s", "external_id": "1", "tables": [None]},
        {"source": "s", "external_id": "1", "assets": ["orders"]},
        {"source": "s", "external_id": "1", "rank": 3},
        {"source": "s", "external_id": "1", "rank": True},
        {"source": "s", "external_id": "1", "title": "x" * 2000},
        {"source": "s", "external_id": "1", "raw": "\x00"},
    ],
)
def test_what_violates_the_contract_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        read_statement(data)
