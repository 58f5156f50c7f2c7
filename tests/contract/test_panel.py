"""The list of notifications shows a caller nothing that the caller may not read elsewhere."""

from typing import Any

import pytest

from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door
from tests.contract.incidents import found, put_secret, report
from tests.contract.test_subscriptions import eventually, notifications
from tests.monte_carlo import anomaly

REPORT = "shop.report"
BOTH = ("metadata:read", "incidents:read")


def kinds(door: Door, **parameters: str) -> set[str]:
    return {one["kind"] for one in notifications(door, **parameters)}


def risks_of(door: Door, name: str) -> list[dict[str, Any]]:
    """Those that are about this asset alone."""
    listed = notifications(door, kind="risk.*")
    return [risk for risk in listed if [asset["qualified_name"] for asset in risk["assets"]] == [name]]


@pytest.fixture
def reported(door: Door) -> Door:
    """An incident of `vault.people` puts `shop.report` at risk; both, and a change, are in the list."""
    create(door, "/channels", {"name": "stream", "type": "kafka", "config": {}})
    filters = {"kinds": ["risk.*", "asset.created"]}
    create(door, "/subscriptions", {"name": "n", "channel": "stream", "destination": "alerts", "filters": filters})
    put_secret(door)
    for name in ("vault.people", "shop.report"):
        door.ingest(name)
    report(door, anomaly("vault.people", incident="1", details="vault.people is empty"))
    found(door)
    # Only now, so that the risk is announced by itself, without the asset that the incident concerns.
    edge = {"from": "vault.people", "to": "shop.report", "relationship_type": "derived-from"}
    assert door.http.post("/lineage", json={"edges": [edge]}, headers=WAIT).status_code == 200
    eventually(lambda: kinds(door) == {"asset.created", "incident.opened", "risk.at_risk"} and risks_of(door, REPORT))
    return door


def test_each_scope_shows_what_it_covers(reported: Door) -> None:
    listed = {one["kind"]: one["id"] for one in notifications(reported)}
    with reported.limited("metadata:read") as assets, reported.limited("incidents:read") as incidents:
        assert kinds(assets) == {"asset.created"}
        assert kinds(incidents) == {"incident.opened", "risk.at_risk"}
        for door, hidden, shown in (
            (assets, "incident.opened", "asset.created"),
            (incidents, "asset.created", "risk.at_risk"),
        ):
            assert door.http.get(f"/notifications/{listed[shown]}").status_code == 200
            answer = door.http.get(f"/notifications/{listed[hidden]}")
            assert (answer.status_code, "vault" in answer.text) == (404, False)
    with reported.limited(*BOTH) as both:
        assert kinds(both) == set(listed)


def test_a_risk_does_not_repeat_the_words_of_an_incident_that_concerns_a_hidden_asset(reported: Door) -> None:
    (risk,) = risks_of(reported, REPORT)
    assert "vault.people is empty" in risk["text"]
    create(reported, "/policies", policy({"user": "eve"}, {"asset": "vault.people"}, "deny", applies_to=["metadata"]))
    with reported.limited(*BOTH, user="eve") as eve:
        assert [one["title"] for one in notifications(eve)] == ["Created: shop.report"]
        assert eve.http.get(f"/notifications/{risk['id']}").status_code == 404
        assert "vault" not in eve.http.get("/notifications").text


def test_an_incident_that_was_announced_before_its_asset_was_known_is_hidden_with_the_asset(door: Door) -> None:
    put_secret(door)
    report(door, anomaly("vault.people", incident="1", details="vault.people is empty"))
    eventually(lambda: kinds(door) == {"incident.opened"})
    (first,) = notifications(door)
    assert first["assets"] == []
    create(door, "/policies", policy({"user": "eve"}, {"asset": "vault.people"}, "deny", applies_to=["metadata"]))
    with door.limited(*BOTH, user="eve") as eve:
        assert [one["id"] for one in notifications(eve)] == [first["id"]], "as in the list of incidents"
        door.ingest("vault.people")
        found(door, until=lambda items: items[0]["unmatched"] == [])
        assert notifications(eve) == []
        assert eve.http.get("/incidents").json()["items"] == []
