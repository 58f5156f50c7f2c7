"""`/quality-policies`, and what they find, from the request to the topic `incident-events`."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from confluent_kafka import Consumer, TopicPartition

from lily.bus import topics
from lily.model import ids
from tests.contract.door import WAIT, Door, codes

ORDERS = "shop.public.orders"
SPIKE = {"asset": ORDERS, "policy_type": "query_spike", "threshold": 100}
PATIENCE_SECONDS = 60


def create(door: Door, body: dict[str, Any]) -> dict[str, Any]:
    answer = door.http.post("/quality-policies", json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def find(door: Door, identity: str) -> dict[str, Any]:
    answer = door.http.get(f"/quality-policies/{identity}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def wait_for(door: Door, identity: str, open_findings: int) -> dict[str, Any]:
    """The policy, once it has so many findings."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        policy = find(door, identity)
        if policy["open_findings"] == open_findings and policy["judged_at"]:
            return policy
        time.sleep(0.1)
    raise AssertionError(f"{open_findings} findings expected: {policy}")


def wait_for_incidents(door: Door, states: list[str]) -> None:
    """Until the incidents of the orders are in these states."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = door.http.get(f"/metadata/{ORDERS}/incidents").json()["items"]
        if [incident["state"] for incident in found] == states:
            return
        time.sleep(0.1)
    raise AssertionError(f"{states} expected: {found}")


def statements(door: Door, number: int) -> list[dict[str, Any]]:
    """The first events of the tenant on `incident-events`, so many."""
    consumer = Consumer({**door.stack.kafka.client, "group.id": "test-incidents"})
    partitions = consumer.list_topics(topics.INCIDENTS, timeout=10).topics[topics.INCIDENTS].partitions
    consumer.assign([TopicPartition(topics.INCIDENTS, at, 0) for at in partitions])
    found: dict[str, dict[str, Any]] = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found) < number and time.monotonic() < deadline:
        for message in consumer.consume(500, timeout=1):
            if (message.key() or b"").startswith(f"{door.tenant}/".encode()):
                event = orjson.loads(message.value() or b"")
                found[event["id"]] = event
    consumer.close()
    return sorted(found.values(), key=lambda event: str(event["id"]))


def test_a_policy_is_created_read_replaced_and_deleted(door: Door) -> None:
    created = create(door, {"id": "Orders", **SPIKE})
    assert (created["id"], created["threshold"], created["severity"]) == ("Orders", 100, "warning")
    assert find(door, "orders")["asset"] == ORDERS
    replaced = door.http.put("/quality-policies/orders", json={**SPIKE, "threshold": 200, "severity": "critical"})
    assert (replaced.json()["id"], replaced.json()["threshold"]) == ("Orders", 200)
    assert door.http.delete("/quality-policies/orders").json() == {"status": "success", "id": "Orders"}
    assert door.http.get("/quality-policies/orders").status_code == 404


def test_policies_are_listed_in_pages(door: Door) -> None:
    for number in range(3):
        create(door, {"id": f"p{number}", **SPIKE})
    first = door.http.get("/quality-policies", params={"limit": 2}).json()
    rest = door.http.get("/quality-policies", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [item["id"] for item in (*first["items"], *rest["items"])] == ["p0", "p1", "p2"]
    assert rest["next_cursor"] is None


def test_a_policy_without_an_id_gets_one_and_an_id_is_taken_once(door: Door) -> None:
    assert ids.looks_like_uuid(create(door, SPIKE)["id"])
    create(door, {"id": "one", **SPIKE})
    again = door.http.post("/quality-policies", json={"id": "ONE", **SPIKE})
    assert (again.status_code, codes(again)) == (409, {"EXISTS"})


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "INVALID_VALUE"),
        ([], "INVALID_TYPE"),
        ({**SPIKE, "threshold": "high"}, "INVALID_VALUE"),
        ({**SPIKE, "policy_type": "spike"}, "INVALID_VALUE"),
        ({**SPIKE, "id": ""}, "INVALID_VALUE"),
        ({**SPIKE, "window": 3}, "UNKNOWN_FIELD"),
    ],
)
def test_a_wrong_policy_is_refused(door: Door, body: Any, code: str) -> None:
    answer = door.http.post("/quality-policies", json=body)
    assert answer.status_code == 400
    assert code in codes(answer)


def test_an_asset_that_nothing_has_ingested_is_accepted_with_a_warning(door: Door) -> None:
    (warning,) = create(door, {"id": "early", **SPIKE})["warnings"]
    assert (warning["code"], warning["entity"]) == ("UNKNOWN_ASSET", "asset")
    assert ORDERS in warning["description"]
    assert "PUT /quality-policies/early" in warning["description"]
    by_id = {**SPIKE, "asset": ids.asset_id(door.tenant, ORDERS)}
    assert door.http.put("/quality-policies/early", json=by_id).json()["warnings"][0]["code"] == "UNKNOWN_ASSET"
    assert "warnings" not in create(door, {"asset": "*", "policy_type": "deleted_asset"})
    door.ingest(ORDERS)
    assert "warnings" not in create(door, SPIKE)
    assert "warnings" not in door.http.put("/quality-policies/early", json=by_id).json()
    assert "warnings" not in find(door, "early")


def test_the_id_of_a_policy_cannot_be_changed(door: Door) -> None:
    create(door, {"id": "one", **SPIKE})
    assert codes(door.http.put("/quality-policies/one", json={"id": "two", **SPIKE})) == {"INVALID_VALUE"}


def test_a_spike_becomes_a_statement_about_an_incident_and_ends_with_its_policy(door: Door) -> None:
    door.ingest(ORDERS)
    create(door, {"id": "spike", **SPIKE})
    wait_for(door, "spike", 0)
    # Yesterday: the test may run at midnight, and a spike lasts until the day after it is complete.
    at = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    usage = {"events": [{"asset_id": ORDERS, "query_count": 60, "timestamp": at, "event_id": f"e{n}"} for n in (1, 2)]}
    assert door.http.post("/usage", json=usage, headers=WAIT).status_code == 200
    assert find(door, "spike")["open_findings"] == 1, "judged in the transaction that counts"
    assert door.http.post("/usage", json=usage, headers=WAIT).status_code == 200
    (opened,) = statements(door, 1)
    assert opened["type"] == "lily.incident.stated"
    assert opened["data"] | {"external_id": ""} == {
        "source": "quality",
        "external_id": "",
        "state": "open",
        "kind": "query_spike",
        "severity": "warning",
        "title": f"orders: 120 queries on {at[:10]}, more than 100",
        "tables": [],
        "assets": [ids.asset_id(door.tenant, ORDERS)],
        "rank": 0,
    }
    wait_for_incidents(door, ["open"])
    assert door.http.delete("/quality-policies/spike").status_code == 200
    wait_for_incidents(door, ["resolved"])
    opened, resolved = statements(door, 2)
    assert (resolved["data"]["state"], resolved["data"]["external_id"]) == ("resolved", opened["data"]["external_id"])


def test_a_deleted_asset_is_found_and_a_restored_one_is_not(door: Door) -> None:
    door.ingest(ORDERS)
    create(door, {"id": "gone", "asset": "*", "policy_type": "deleted_asset"})
    wait_for(door, "gone", 0)
    door.change("DELETE", f"/metadata/{ORDERS}")
    wait_for(door, "gone", 1)
    door.change("POST", f"/metadata/{ORDERS}/restore")
    wait_for(door, "gone", 0)
    assert [event["data"]["state"] for event in statements(door, 2)] == ["open", "resolved"]
