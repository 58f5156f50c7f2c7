"""Incidents as people and programs see, find, acknowledge and resolve them."""

from typing import Any

import pytest

from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door
from tests.contract.incidents import found, put_secret, report
from tests.contract.test_notifications import listen, next_message
from tests.monte_carlo import LINK, anomaly, message

WRITER = ("incidents:read", "incidents:write")


def ids(items: list[dict[str, Any]]) -> list[str]:
    return [item["external_id"] for item in items]


@pytest.fixture
def reported(door: Door) -> Door:
    """Three incidents, the third without an asset."""
    put_secret(door)
    for name in ("shop.orders", "vault.people"):
        door.ingest(name)
    for number, table in enumerate(("shop.orders", "vault.people", "elsewhere.orders"), 1):
        report(door, anomaly(table, incident=str(number), details=f"Late rows {number}"))
        found(door, until=lambda items, number=number: len(items) == number)  # type: ignore[misc]
    return door


def test_incidents_are_filtered_searched_and_paged_newest_first(reported: Door) -> None:
    assert ids(found(reported)) == ["3", "2", "1"]
    assert ids(found(reported, asset="vault.people")) == ["2"]
    assert ids(found(reported, q="late 3")) == ["3"]
    report(reported, message("declared_alert_severity", {"declared_alert_severity": "SEV-1"}, incident="1"))
    assert ids(found(reported, severity="critical")) == ["1"]
    for parameters in ({"state": "resolved"}, {"source": "openlineage"}, {"q": "100% late_"}):
        assert reported.http.get("/incidents", params=parameters).json()["items"] == []
    first = reported.http.get("/incidents", params={"limit": 2}).json()
    second = reported.http.get("/incidents", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert (ids(first["items"]), ids(second["items"]), second["next_cursor"]) == (["3", "2"], ["1"], None)
    wrong = reported.http.get("/incidents", params={"state": "open", "cursor": first["next_cursor"]})
    assert wrong.status_code == 400


def test_a_person_acknowledges_and_resolves_an_incident(reported: Door) -> None:
    incident = found(reported, asset="shop.orders")[0]["incident_id"]
    with reported.limited(*WRITER, user="ann") as ann:
        answer = ann.http.post(f"/incidents/{incident}/acknowledge", json={"note": "On it"})
        assert (answer.status_code, answer.json()["state"]) == (200, "acknowledged"), answer.text
        answer = ann.http.post(f"/incidents/{incident}/resolve")
        assert (answer.status_code, answer.json()["state"]) == (200, "resolved"), answer.text
        again = ann.http.post(f"/incidents/{incident}/acknowledge")
        assert (again.status_code, again.json()["state"]) == (200, "resolved")
    shown = reported.http.get(f"/incidents/{incident}").json()
    said = [(entry["by"], entry["change"].get("state"), entry["change"].get("note")) for entry in shown["history"]]
    assert said[-1] == ("monte-carlo", "open", None)
    assert said[-2] == ("ann", "acknowledged", "On it")
    assert said[-3] == ("ann", "resolved", None)
    assert shown["links"] == [{"name": "monte-carlo", "url": LINK}]
    assert shown["acknowledged_at"] < shown["resolved_at"]
    assert ids(found(reported, state="resolved")) == ["1"]


def test_what_is_not_there_or_not_valid_is_refused(reported: Door, other_door: Door) -> None:
    incident = found(reported)[0]["incident_id"]
    assert other_door.http.get(f"/incidents/{incident}").status_code == 404
    assert other_door.http.post(f"/incidents/{incident}/resolve").status_code == 404
    assert reported.http.get("/incidents/nothing").status_code == 404
    bodies: list[Any] = [{"nope": 1}, {"note": "\x00"}, {"note": 7}, []]
    for body in bodies:
        assert reported.http.post(f"/incidents/{incident}/resolve", json=body).status_code == 400
    assert reported.http.get("/incidents", params={"state": "closed"}).status_code == 400


def test_a_policy_that_hides_an_asset_hides_its_incidents(reported: Door) -> None:
    report(reported, anomaly("shop.orders", "vault.people", incident="both", details="vault.people is empty"))
    found(reported, until=lambda items: len(items) == 4)
    denied = policy(
        {"user": "eve"}, {"asset": "vault.people"}, "deny", actions=["READ", "WRITE"], applies_to=["metadata"]
    )
    create(reported, "/policies", denied)
    with reported.limited(*WRITER, "metadata:read", user="eve") as eve:
        items = found(eve)
        assert sorted(ids(items)) == ["1", "3", "both"]
        both = next(item for item in items if item["external_id"] == "both")
        assert [asset["qualified_name"] for asset in both["assets"]] == ["shop.orders"]
        assert (both["title"], both["description"]) == ("", "")
        assert eve.http.get("/incidents", params={"q": "empty"}).json()["items"] == []
        assert "vault" not in eve.http.get(f"/incidents/{both['incident_id']}").text
        refused = eve.http.post(f"/incidents/{both['incident_id']}/resolve")
        assert refused.status_code == 403
        assert "vault" not in refused.text
        hidden = found(reported, asset="vault.people", until=lambda items: len(items) == 2)
        alone = next(item for item in hidden if item["external_id"] == "2")["incident_id"]
        assert eve.http.get(f"/incidents/{alone}").status_code == 404
        assert eve.http.post(f"/incidents/{alone}/resolve").status_code == 404
        assert eve.http.get("/metadata/vault.people/incidents").status_code == 403
        assert eve.http.get("/incidents", params={"asset": "vault.people"}).status_code == 403


def test_an_incident_is_an_alert_on_the_websocket_for_those_who_may_read_incidents(door: Door) -> None:
    put_secret(door)
    asset = door.ingest("shop.orders")
    with (
        door.limited("metadata:read", user="reader") as reader,
        listen(door, change="incident") as alerts,
        listen(door, reader.token) as plain,
    ):
        report(door, anomaly("shop.orders", incident="1"))
        opened = next_message(alerts)
        report(door, anomaly("nowhere", incident="2"))
        unmatched = next_message(alerts)
        door.ingest("shop.after")
        seen = [next_message(plain)]
        while seen[-1]["qualified_name"] != "shop.after":
            seen.append(next_message(plain))
    # That the asset was created may be published after the connection was opened.
    assert {(message["qualified_name"], message["change"]) for message in seen} <= {
        ("shop.orders", "created"),
        ("shop.after", "created"),
    }
    assert (opened["type"], opened["metadata_id"], opened["state"], opened["severity"]) == (
        "alert",
        asset,
        "open",
        "warning",
    )
    assert (unmatched["metadata_id"], unmatched["title"]) == (None, "No rows for 12 hours")


def test_alerts_do_not_name_assets_that_a_policy_hides_from_the_listener(door: Door) -> None:
    put_secret(door)
    for name in ("shop.orders", "shop.report", "vault.people"):
        door.ingest(name)
    edge = {"from": "vault.people", "to": "shop.report", "relationship_type": "derived-from"}
    assert door.http.post("/lineage", json={"edges": [edge]}, headers=WAIT).status_code == 200
    denied = policy({"user": "eve"}, {"asset": "vault.people"}, "deny", actions=["READ"], applies_to=["metadata"])
    create(door, "/policies", denied)
    with door.limited("metadata:read", "incidents:read", user="eve") as eve, listen(door, eve.token) as alerts:
        report(door, anomaly("shop.orders", "vault.people", incident="both", details="vault.people is empty"))
        heard = [next_message(alerts) for _ in range(3)]
        report(door, anomaly("shop.orders", incident="open", details="shop.orders is empty"))
        shown = next_message(alerts)
    assert {(one["change"], one["qualified_name"], one["title"]) for one in heard} == {
        ("incident", "shop.orders", ""),
        ("at_risk", "shop.orders", ""),
        ("at_risk", "shop.report", ""),
    }
    assert (shown["qualified_name"], shown["title"]) == ("shop.orders", "shop.orders is empty")


def test_an_incident_is_attached_to_an_asset_that_is_ingested_later(door: Door) -> None:
    put_secret(door)
    report(door, anomaly("late.orders", incident="1"))
    assert [item["unmatched"] for item in found(door)] == [["late.orders"]]
    door.ingest("late.orders")
    assert ids(found(door, "/metadata/late.orders/incidents")) == ["1"]
    (incident,) = found(door, until=lambda items: items[0]["unmatched"] == [])
    assert incident["external_id"] == "1"


def test_a_failed_assertion_of_openlineage_is_an_incident_until_it_holds(door: Door) -> None:
    def run(run_id: str, time: str, *, success: bool) -> None:
        checked = [{"assertion": "not_null", "column": "id", "success": success}]
        facets = {"dataQualityAssertions": {"assertions": checked}}
        event = {
            "eventTime": time,
            "eventType": "COMPLETE",
            "run": {"runId": run_id},
            "job": {"namespace": "dbt", "name": "tests"},
            "inputs": [{"namespace": "postgres://h", "name": "shop.orders", "inputFacets": facets}],
        }
        answer = door.http.post("/api/v1/lineage", json=event, headers={"Prefer": "wait=30"})
        assert answer.status_code == 200, answer.text

    run("r1", "2026-01-01T00:00:00Z", success=False)
    run("r2", "2026-01-02T00:00:00Z", success=False)
    assert len(found(door, "/metadata/shop.orders/incidents", until=lambda items: len(items) == 2)) == 2
    run("r3", "2026-01-03T00:00:00Z", success=True)
    run("r4", "2026-01-04T00:00:00Z", success=False)
    states = {"open": 1, "resolved": 2}
    for state, number in states.items():
        found(door, state=state, source="openlineage", until=lambda items, number=number: len(items) == number)  # type: ignore[misc]
