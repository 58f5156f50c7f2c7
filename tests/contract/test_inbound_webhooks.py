"""Webhooks of Okta, Jira, Slack and of sources that a mapping describes, over HTTP."""

import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Any

import httpx
import orjson
import pytest

from tests.contract.door import Door, codes
from tests.contract.incidents import deliver, found, put_secret, report
from tests.monte_carlo import anomaly
from tests.okta import delivery, lifecycle, membership
from tests.signing import SECRET, jira_headers, jira_update, slack_click, slack_headers

TICKETS: dict[str, Any] = {
    "name": "tickets",
    "signature": {"type": "hmac-sha256", "header": "Ticket-Signature", "prefix": "sha256="},
    "items": "$.tickets[*]",
    "fields": {
        "external_id": "@.id",
        "state": {"path": "@.status", "values": {"new": "open", "closed": "resolved"}},
        "title": "Ticket {@.id}: {@.summary}",
        "tables": "@.tables[*]",
    },
}
TICKET = {"id": 17, "status": "new", "summary": "No rows", "tables": ["shop.public.orders", None, 7]}


def secret_of(door: Door, source: str) -> None:
    answer = door.http.put(f"/webhook-secrets/{source}", json={"secret": SECRET})
    assert answer.status_code == 200, answer.text


def sent(door: Door, source: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
    return deliver(door, body, headers, tenant=door.tenant, source=source)


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def in_state(door: Door, state: str) -> None:
    """Waits until the only incident is in that state."""
    found(door, until=lambda items: [one["state"] for one in items] == [state])


def incident_id(door: Door) -> str:
    put_secret(door)
    report(door, anomaly("shop.orders", incident="1"))
    (incident,) = found(door)
    return str(incident["incident_id"])


def test_okta_verifies_the_address_without_a_secret(door: Door) -> None:
    url = f"{door.stack.url}/webhook/okta"
    challenge = {"X-Okta-Verification-Challenge": "wYpcFYqHzhRMxV7a"}
    answer = httpx.get(url, params={"tenant": door.tenant}, headers=challenge)
    assert (answer.status_code, answer.json()) == (200, {"verification": "wYpcFYqHzhRMxV7a"})
    assert httpx.get(url).status_code == 400
    assert httpx.get(url, headers={"X-Okta-Verification-Challenge": "x" * 2_000}).status_code == 400


def test_a_user_who_leaves_okta_is_out_within_seconds(door: Door) -> None:
    secret_of(door, "okta")
    body = orjson.dumps(delivery(lifecycle("deactivate", "zoe@example.org", "2026-01-01T08:00:00.000Z")))
    with door.limited("metadata:read", user="Zoe@example.org") as zoe:
        assert zoe.http.get("/metadata").status_code == 200
        for headers in ({}, {"authorization": "wrong"}, {"authorization": f"Bearer {SECRET}"}):
            assert sent(door, "okta", body, headers).status_code == 403
        assert zoe.http.get("/metadata").status_code == 200
        assert sent(door, "okta", body, {"authorization": SECRET}).json() == {"status": "success"}
        eventually(lambda: zoe.http.get("/metadata").status_code == 401)
        returned = orjson.dumps(delivery(lifecycle("reactivate", "zoe@example.org", "2026-01-02T08:00:00.000Z")))
        assert sent(door, "okta", returned, {"authorization": SECRET}).status_code == 200
        eventually(lambda: not door.http.get("/users/zoe@example.org/disable").json()["disabled"])
        assert zoe.http.get("/metadata").status_code == 401, "the token stays revoked"


def test_groups_of_okta_become_groups_of_the_user(door: Door) -> None:
    secret_of(door, "okta")
    body = orjson.dumps(delivery(membership("add", "zoe", "Stewards", "2026-01-01T08:00:00.000Z")))
    assert sent(door, "okta", body, {"authorization": SECRET}).status_code == 200
    eventually(lambda: door.http.get("/users/zoe").json().get("groups") == ["Stewards"])


def test_jira_acknowledges_and_resolves_the_incident_of_an_issue(door: Door) -> None:
    secret_of(door, "jira")
    incident = incident_id(door)
    for category, state in (("indeterminate", "acknowledged"), ("done", "resolved")):
        body = jira_update(incident, category)
        assert sent(door, "jira", body, jira_headers(body, "another secret")).status_code == 403
        assert sent(door, "jira", body, jira_headers(body)).status_code == 200
        in_state(door, state)
    history = door.http.get(f"/incidents/{incident}").json()["history"]
    assert history[0]["by"] == "jira:zoe@example.org"


def test_a_click_in_slack_acknowledges_in_the_name_of_who_clicked(door: Door) -> None:
    secret_of(door, "slack")
    incident = incident_id(door)
    body = slack_click(incident)
    assert sent(door, "slack", body, slack_headers(body, at=time.time() - 600)).status_code == 403
    assert sent(door, "slack", body, slack_headers(body)).status_code == 200
    in_state(door, "acknowledged")
    assert door.http.get(f"/incidents/{incident}").json()["history"][0]["by"] == "slack:zoe"
    hello = b'{"type": "url_verification", "challenge": "3eZbrw1a"}'
    assert sent(door, "slack", hello, {}).status_code == 403
    assert sent(door, "slack", hello, slack_headers(hello)).json() == {"challenge": "3eZbrw1a"}


def test_a_source_with_a_mapping_needs_no_code(door: Door, other_door: Door) -> None:
    door.ingest("shop.public.orders")
    created = door.http.post("/webhook-mappings", json=TICKETS)
    assert (created.status_code, created.json()) == (201, TICKETS | {"shipped": False})
    assert codes(door.http.post("/webhook-mappings", json=TICKETS)) == {"EXISTS"}
    tried = door.http.post("/webhook-mappings/tickets/test", json={"tickets": [TICKET, {"id": 18}, {"status": "new"}]})
    assert [one["outcome"] for one in tried.json()["items"]] == ["incident", "ignored", "refused"]
    assert tried.json()["items"][0]["statement"]["title"] == "Ticket 17: No rows"
    assert door.http.get("/incidents").json()["items"] == []

    secret_of(door, "tickets")
    body = orjson.dumps({"tickets": [TICKET]})
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {"Ticket-Signature": f"sha256={signature}"}
    assert sent(door, "tickets", body, {"Ticket-Signature": signature}).status_code == 403
    assert deliver(door, body, headers, tenant=other_door.tenant, source="tickets").status_code == 403
    assert sent(door, "tickets", body, headers).status_code == 200
    (incident,) = found(door, "/metadata/shop.public.orders/incidents")
    assert (incident["source"], incident["external_id"]) == ("tickets", "17")

    assert other_door.http.get("/webhook-mappings/tickets").status_code == 404
    assert door.http.delete("/webhook-mappings/tickets").status_code == 200
    assert sent(door, "tickets", body, headers).status_code == 403


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "okta"}, "intake"),
        ({"name": "quality"}, "source of Lily itself"),
        ({"name": "No Name"}, "pattern"),
        ({"fields": {"external_id": "$..id"}}, "filters, slices and .. are not supported"),
        ({"fields": {"external_id": "{$.id"}}, "brace"),
        ({"fields": {"external_id": "$.id", "state": {"path": "$.s", "values": {"a": "shut"}}}}, "may only lead to"),
        ({"fields": {"external_id": "$.id", "state": {"path": "$.s", "values": {"a": "passed"}}}}, "needs the field"),
        ({"fields": {}}, "missing"),
        ({"signature": {"type": "none"}}, "standard-webhooks"),
        ({"extra": 1}, "unknown field"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_with_the_reason(
    door: Door, change: dict[str, Any], complaint: str
) -> None:
    answer = door.http.post("/webhook-mappings", json=TICKETS | change)
    assert answer.status_code in {400, 409}
    assert complaint in answer.text
    assert door.http.get("/webhook-mappings/tickets").status_code == 404


def test_soda_needs_nothing_but_its_secret(door: Door) -> None:
    secret_of(door, "soda")
    check = {
        "identity": "c1",
        "name": "row_count > 0",
        "type": "generic",
        "dataSource": "shop",
        "table": "orders",
        "outcome": "fail",
    }
    scan = {"dataTimestamp": "2026-01-01T08:00:00+00:00", "checks": [check]}
    headers = {"authorization": f"Bearer {SECRET}"}
    assert sent(door, "soda", orjson.dumps(scan), {"authorization": SECRET}).status_code == 403
    assert sent(door, "soda", orjson.dumps(scan), headers).status_code == 200
    (incident,) = found(door)
    assert (incident["title"], incident["state"], incident["severity"]) == ("row_count > 0", "open", "critical")
    later = {"dataTimestamp": "2026-01-02T08:00:00+00:00", "checks": [check | {"outcome": "pass"}]}
    assert sent(door, "soda", orjson.dumps(later), headers).status_code == 200
    in_state(door, "resolved")
