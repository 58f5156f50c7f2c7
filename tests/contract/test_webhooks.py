"""Signed webhooks: who may send them, what becomes of them, and how their secrets are replaced."""

import hmac
from typing import Any

import httpx
import pytest

from tests.contract.door import Door, codes
from tests.contract.incidents import SECRET, deliver, found, post, put_secret, report
from tests.contract.test_dead_letters import letters
from tests.monte_carlo import ANOMALY, anomaly, feedback, message, signed


def outcome(answer: httpx.Response) -> tuple[int, Any]:
    return answer.status_code, answer.json()


@pytest.mark.parametrize("url_encoded", [True, False], ids=["the vendor's form", "the raw body"])
def test_a_signed_webhook_becomes_an_incident_on_its_asset(door: Door, *, url_encoded: bool) -> None:
    asset = door.ingest("shop.public.orders")
    put_secret(door)
    assert outcome(post(door, anomaly("SHOP:public.orders"), url_encoded=url_encoded)) == (200, {"status": "success"})
    (incident,) = found(door, "/metadata/shop.public.orders/incidents")
    assert incident["assets"] == [
        {"metadata_id": asset, "entity_type": "table", "qualified_name": "shop.public.orders"}
    ]
    assert (incident["source"], incident["state"], incident["title"]) == ("monte-carlo", "open", "No rows for 12 hours")


def test_whatever_is_wrong_with_a_webhook_looks_the_same(door: Door, other_door: Door) -> None:
    put_secret(door)
    raw, headers = signed(ANOMALY, SECRET)
    wrong = post(door, ANOMALY, "another secret")
    assert wrong.status_code == 403
    assert codes(wrong) == {"BAD_SIGNATURE"}
    unsigned = {"content-type": "application/json"}
    for answer in (
        deliver(door, raw, unsigned, tenant=door.tenant),
        deliver(door, raw + b" ", headers | {"x-mcd-signature": "0" * 128}, tenant=door.tenant),
        deliver(door, raw, headers, tenant="no-such-tenant"),
        deliver(door, raw, headers, tenant="no such\x00 tenant"),
        deliver(door, raw, headers, tenant=""),
        deliver(door, raw, headers, tenant=other_door.tenant),
        deliver(door, raw, headers, tenant=door.tenant, source="no-such-source"),
        deliver(door, raw, headers, tenant=door.tenant, source="openlineage"),
        deliver(door, b"\xff", headers, tenant=door.tenant),
    ):
        assert outcome(answer) == outcome(wrong)
    assert door.http.get("/incidents").json()["items"] == []


def test_a_secret_is_replaced_without_downtime_and_ends_at_once_if_it_is_removed(door: Door) -> None:
    first = put_secret(door, "the first secret")
    assert first["previous_valid_until"] is None
    second = put_secret(door, "the second secret")
    assert second["previous_valid_until"] > second["created_at"]
    assert [post(door, ANOMALY, f"the {name} secret").status_code for name in ("first", "second")] == [200, 200]
    put_secret(door, "the third secret", keep_previous_for=0)
    used = [post(door, ANOMALY, f"the {name} secret").status_code for name in ("first", "second", "third")]
    assert used == [403, 403, 200]
    (listed,) = door.http.get("/webhook-secrets").json()["items"]
    assert listed.keys() == {"source", "created_at", "previous_valid_until"}
    assert door.http.delete("/webhook-secrets/monte-carlo").status_code == 200
    assert post(door, ANOMALY, "the third secret").status_code == 403
    assert door.http.delete("/webhook-secrets/monte-carlo").status_code == 404
    assert door.http.get("/webhook-secrets").json()["items"] == []


@pytest.mark.parametrize(
    "body", [{}, {"secret": "short"}, {"secret": SECRET, "keep_previous_for": -1}, {"secret": SECRET, "x": 1}]
)
def test_a_secret_that_is_no_secret_is_refused(door: Door, body: dict[str, Any]) -> None:
    assert door.http.put("/webhook-secrets/monte-carlo", json=body).status_code == 400
    assert door.http.put("/webhook-secrets/no%2Fsource", json={"secret": SECRET}).status_code == 400


def test_a_delivery_that_is_sent_again_changes_nothing(door: Door) -> None:
    put_secret(door)
    for _ in range(3):
        report(door, anomaly("shop.orders", incident="1"))
    report(door, anomaly("shop.orders", incident="2"))
    items = found(door, until=lambda items: len(items) == 2)
    history = door.http.get(f"/incidents/{items[-1]['incident_id']}").json()["history"]
    assert len(history) == 1


def test_a_large_body_is_accepted_up_to_ten_megabytes(door: Door) -> None:
    put_secret(door)
    report(door, anomaly("shop.orders", incident="large") | {"padding": "x" * (9 << 20)})
    (incident,) = found(door)
    assert incident["external_id"] == "large"
    refused = post(door, anomaly("shop.orders") | {"padding": "x" * (10 << 20)})
    assert refused.status_code == 413
    raw = b'{"payload": ' + b" " * (5 << 20)
    signature = hmac.new(SECRET.encode(), raw, "sha512").hexdigest()
    unreadable = deliver(door, raw, {"x-mcd-signature": signature}, tenant=door.tenant)
    assert (unreadable.status_code, codes(unreadable)) == (413, {"TOO_LARGE"})


def test_a_message_that_names_no_incident_is_a_dead_letter_and_holds_up_nothing(door: Door) -> None:
    put_secret(door)
    report(door, message("open_anomaly_incident", {"incident_id": None}))
    report(door, anomaly("shop.orders", incident="1"))
    report(door, feedback("false_positive", incident="1"))
    (incident,) = found(door, until=lambda items: [one["state"] for one in items] == ["resolved"])
    assert incident["unmatched"] == ["shop.orders"]
    (letter,) = letters(door, 1)
    assert letter["topic"] == "incident-events@incidents"
    assert "payload.incident_id" in letter["errors"][0]["description"]
