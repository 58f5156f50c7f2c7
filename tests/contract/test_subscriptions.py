"""Channels, subscriptions and notifications through the API: from a change to a receiver, its receipt and why."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import psycopg
import pytest

from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door, codes
from tests.contract.incidents import found, put_secret, report
from tests.monte_carlo import anomaly
from tests.notification_receiver import Receiver, notification_receiver

PATIENCE_SECONDS = 60.0
SECRET = "whsec_" + "c2VjcmV0" * 4


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with notification_receiver() as found:
        yield found


def add_channel(door: Door, receiver: Receiver, name: str = "Hook", **fields: Any) -> httpx.Response:
    config = {"destinations": {"ops": receiver.at("ops"), "other": receiver.at("other")}, "secrets": [SECRET]}
    return door.http.post("/channels", json={"name": name, "type": "webhook", "config": config} | fields)


def subscribe(door: Door, **fields: Any) -> dict[str, Any]:
    body = {"name": "changes", "channel": "hook", "destination": "ops", "filters": {"kinds": ["asset.*", "tag.*"]}}
    return create(door, "/subscriptions", body | fields)


def eventually(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (result := look()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)
    return result


def notifications(door: Door, **parameters: str) -> list[dict[str, Any]]:
    answer = door.http.get("/notifications", params=parameters)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def delivered(door: Door, notification: str) -> dict[str, Any] | None:
    shown = door.http.get(f"/notifications/{notification}").json()
    return shown if {one["state"] for one in shown["deliveries"]} == {"delivered"} else None


def explained(door: Door, subscription: str, event: str) -> dict[str, Any]:
    answer = door.http.get(f"/subscriptions/{subscription}/explain", params={"event": event})
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["items"][0])


def last_change(door: Door, asset: str) -> str:
    with psycopg.connect(door.stack.database) as connection:
        rows = connection.execute("select max(position) from changes where asset_id = %s", [asset]).fetchone()
    assert rows is not None
    return f"change-{rows[0]}"


def test_a_change_reaches_the_receiver_with_a_receipt_a_link_and_a_reason(door: Door, receiver: Receiver) -> None:
    assert add_channel(door, receiver).status_code == 201
    subscription = subscribe(door, template={"title": "{{ kind }} by {{ by }}: {{ asset.name }}"})["id"]
    asset = door.ingest("shop.orders", owner="ann")
    (message,) = eventually(lambda: receiver.taken)
    assert message.title.startswith("asset.created by ")
    assert message.title.endswith(": shop.orders")
    assert message.body["url"].endswith(f"/#/assets/{asset}")
    (listed,) = notifications(door, asset="shop.orders")
    assert (listed["kind"], listed["severity"], listed["id"]) == ("asset.created", "info", message.key)
    assert listed["assets"] == [{"id": asset, "entity_type": "table", "qualified_name": "shop.orders"}]
    (receipt,) = eventually(lambda: delivered(door, listed["id"]))["deliveries"]
    assert (receipt["channel"], receipt["destination"], receipt["attempts"]) == ("hook", "ops", 1)
    for event in (listed["id"], listed["event"]):
        reason = explained(door, subscription, event)
        assert reason["matched"]
        assert reason["answer"].startswith("it was delivered to ops over hook at ")


def test_why_a_change_was_not_sent_names_the_filter(door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)
    filters = {"kinds": ["asset.created", "asset.deleted"], "owners": ["bob"]}
    subscription = subscribe(door, filters=filters)["id"]
    asset = door.ingest("shop.orders", owner="ann")
    why = explained(door, subscription, last_change(door, asset))
    assert not why["matched"]
    assert [one["filter"] for one in why["filters"] if not one["matched"]] == ["owners"]
    assert "ann" in why["answer"]
    door.change("PUT", f"/metadata/{asset}", {"attributes": {"owner": "bob"}})
    why = explained(door, subscription, last_change(door, asset))
    assert [one["filter"] for one in why["filters"] if not one["matched"]] == ["kinds"]
    assert "asset.updated" in why["answer"]
    unknown = door.http.get(f"/subscriptions/{subscription}/explain", params={"event": "change-999999999"})
    assert unknown.status_code == 404


def test_a_receiver_that_refuses_is_a_dead_letter_and_is_delivered_after_a_replay(
    door: Door, receiver: Receiver
) -> None:
    add_channel(door, receiver)
    receiver.fail(400)
    subscription = subscribe(door)["id"]
    door.ingest("shop.orders")
    letters = eventually(lambda: door.http.get("/dead-letters").json()["items"])
    (listed,) = notifications(door)
    assert "400" in explained(door, subscription, listed["id"])["answer"]
    receiver.work()
    assert door.http.post("/dead-letters/replay", json={"ids": [letters[0]["id"]]}).json()["replayed"] == 1
    eventually(lambda: delivered(door, listed["id"]))
    assert {one.key for one in receiver.received} == {listed["id"]}


def test_a_test_is_sent_at_once_and_shows_what_the_receiver_returned(door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)
    answer = door.http.post("/channels/Hook/test", json={"destination": "ops"})
    assert (answer.status_code, answer.json()["delivered"]) == (200, True)
    assert receiver.taken[0].title == "Test of the channel Hook"
    receiver.fail(403)
    answer = door.http.post("/channels/hook/test", json={"destination": "ops"}).json()
    assert not answer["delivered"]
    assert "403" in answer["error"]
    unknown = door.http.post("/channels/hook/test", json={"destination": "nowhere"}).json()
    assert "nowhere" in unknown["error"]
    assert door.http.get("/channels/hook").json()["test"]["destination"] == "nowhere"


def test_a_configuration_is_validated_and_never_shown(door: Door, receiver: Receiver) -> None:
    answer = add_channel(door, receiver, per_second=5)
    shown = [answer.text, door.http.get("/channels").text, door.http.get("/channels/hook").text]
    assert not any(SECRET in text or receiver.url in text for text in shown)
    assert codes(add_channel(door, receiver)) == {"EXISTS"}
    assert codes(add_channel(door, receiver, "x", type="nothing")) == {"INVALID_CHANNEL"}
    assert codes(add_channel(door, receiver, "x", config={"url": 1})) == {"INVALID_CHANNEL"}
    private = {"destinations": {"ops": "https://10.0.0.1/"}, "secrets": [SECRET]}
    refused = add_channel(door, receiver, "x", config=private)
    assert (refused.status_code, codes(refused)) == (422, {"FORBIDDEN_ADDRESS"})
    changed = door.http.put("/channels/HOOK", json={"type": "webhook", "per_second": 9})
    assert (changed.status_code, changed.json()["per_second"]) == (200, 9)
    assert codes(door.http.put("/channels/hook", json={"type": "slack"})) == {"INVALID_VALUE"}
    assert door.http.put("/channels/none", json={"type": "slack"}).status_code == 404


def test_a_subscription_that_cannot_work_is_refused_with_the_reason(door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)

    def refused(**fields: Any) -> str:
        body = {"name": "n", "channel": "hook", "destination": "ops"} | fields
        answer = door.http.post("/subscriptions", json=body)
        assert answer.status_code == 400, answer.text
        return answer.text

    assert "UNKNOWN_CHANNEL" in refused(channel="none")
    assert "did you mean `severity`" in refused(template={"title": "{{ severty }}"})
    assert "INVALID_TEMPLATE" in refused(template={"text": "{{ ''.__class__ }}"})
    assert "unknown kind" in refused(filters={"kinds": ["incidents"]})
    assert "UNKNOWN_FIELD" in refused(filter={})
    assert "time zone" in refused(quiet_hours={"timezone": "Mars", "from": "22:00", "to": "07:00"})


def test_subscriptions_are_listed_changed_and_deleted_and_hold_their_channel(door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)
    made = [subscribe(door, name=f"n{number}") for number in range(3)]
    page = door.http.get("/subscriptions", params={"limit": 2}).json()
    rest = door.http.get("/subscriptions", params={"limit": 2, "cursor": page["next_cursor"]}).json()
    assert {one["id"] for one in page["items"] + rest["items"]} == {one["id"] for one in made}
    body = {"name": "renamed", "channel": "hook", "destination": "other", "enabled": False}
    changed = door.http.put(f"/subscriptions/{made[0]['id']}", json=body).json()
    assert (changed["name"], changed["enabled"], changed["filters"]["kinds"]) == ("renamed", False, [])
    assert door.http.get(f"/subscriptions/{made[0]['id']}").json() == changed
    held = door.http.delete("/channels/hook")
    assert (held.status_code, codes(held)) == (409, {"IN_USE"})
    for one in made:
        assert door.http.delete(f"/subscriptions/{one['id']}").status_code == 200
    assert door.http.delete(f"/subscriptions/{made[0]['id']}").status_code == 404
    assert door.http.delete("/channels/hook").status_code == 200
    assert door.http.get("/channels/hook").status_code == 404


def test_another_tenant_finds_nothing(door: Door, other_door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)
    subscription = subscribe(door)["id"]
    door.ingest("shop.orders")
    (listed,) = eventually(lambda: notifications(door))
    for path in (
        "/channels/hook",
        f"/subscriptions/{subscription}",
        f"/subscriptions/{subscription}/explain?event={listed['id']}",
        f"/notifications/{listed['id']}",
    ):
        assert other_door.http.get(path).status_code == 404
    assert other_door.http.post("/channels/hook/test", json={}).status_code == 404
    assert other_door.http.post(f"/notifications/{listed['id']}/acknowledge").status_code == 404
    assert notifications(other_door) == []


def test_a_notification_is_acknowledged_once_and_filtered_by_it(door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)
    subscribe(door)
    door.ingest("shop.orders")
    (listed,) = eventually(lambda: notifications(door))
    assert notifications(door, acknowledged="false", kind="asset.*", severity="info") == [listed]
    assert notifications(door, kind="incident.*") == []
    first = door.http.post(f"/notifications/{listed['id']}/acknowledge").json()
    with door.limited("incidents:write", user="second") as second:
        again = second.http.post(f"/notifications/{listed['id']}/acknowledge").json()
    assert first["acknowledged_by"] == again["acknowledged_by"]
    assert notifications(door, acknowledged="false") == []
    assert notifications(door, acknowledged="true")[0]["acknowledged_at"] == first["acknowledged_at"]
    assert codes(door.http.get("/notifications", params={"kind": "incidents"})) == {"INVALID_VALUE"}


def test_a_policy_that_hides_an_asset_hides_its_notifications(door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)
    subscribe(door)
    door.ingest("vault", "schema")
    for name in ("vault.secret", "open.orders"):
        door.ingest(name, **({"parent": "vault"} if name.startswith("vault") else {}))
    listed = eventually(lambda: listed if len(listed := notifications(door)) == 3 else None)
    hidden = next(one for one in listed if one["title"].endswith("vault.secret"))
    create(door, "/policies", policy({"user": "mallory"}, {"asset": "vault"}, "deny", name="closed"))
    (known,) = door.http.get("/subscriptions").json()["items"]
    with door.limited("metadata:read", "notifications:manage", user="mallory") as mallory:
        assert [one["title"] for one in notifications(mallory)] == ["Created: open.orders"]
        assert notifications(mallory, asset="vault.secret") == []
        # Whoever counts through the ids of events must not learn what they are about.
        for answer in (
            mallory.http.get(f"/notifications/{hidden['id']}"),
            mallory.http.post(f"/notifications/{hidden['id']}/acknowledge"),
            mallory.http.get(f"/subscriptions/{known['id']}/explain", params={"event": hidden["event"]}),
        ):
            assert answer.status_code == 404
            assert "vault" not in answer.text


def test_mutes_and_mentions_are_administered(door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)
    subscribe(door)
    mute = create(door, "/notifications/mutes", {"asset": "shop", "until": "2999-01-01T00:00:00Z", "reason": "move"})
    assert [one["id"] for one in door.http.get("/notifications/mutes").json()["items"]] == [mute["id"]]
    door.ingest("shop", "schema")
    door.ingest("shop.orders", parent="shop")
    eventually(lambda: len(notifications(door, muted="true")) == 2)
    assert receiver.received == []
    assert door.http.delete(f"/notifications/mutes/{mute['id']}").status_code == 200
    door.ingest("shop.people", parent="shop")
    eventually(lambda: receiver.taken)
    assert codes(door.http.post("/notifications/mutes", json={"reason": "x"})) == {"INVALID_VALUE"}
    create(door, "/mentions", {"name": "BI-Team", "handles": {"hook": "ops"}})
    changed = door.http.put("/mentions/bi-team", json={"name": "bi-team", "handles": {"slack": "@bi"}}).json()
    assert changed == {"name": "BI-Team", "handles": {"slack": "@bi"}}
    assert door.http.get("/mentions").json()["items"] == [changed]
    assert door.http.delete("/mentions/BI-TEAM").status_code == 200
    assert door.http.get("/mentions/bi-team").status_code == 404


def test_an_incident_reaches_the_receiver_from_a_webhook_to_its_resolution(door: Door, receiver: Receiver) -> None:
    add_channel(door, receiver)
    subscription = subscribe(door, filters={"assets": ["shop"], "kinds": ["incident.*"]})["id"]
    put_secret(door)
    door.ingest("shop", "schema")
    door.ingest("shop.orders", parent="shop")
    report(door, anomaly("shop.orders", incident="1", details="Late rows"))
    incident = found(door, until=lambda items: len(items) == 1)[0]["incident_id"]
    eventually(lambda: receiver.taken)
    door.http.post(f"/incidents/{incident}/acknowledge")
    door.http.post(f"/incidents/{incident}/resolve")
    eventually(lambda: len(receiver.taken) >= 3)
    assert [one.body["type"] for one in receiver.taken] == [
        "incident.opened",
        "incident.acknowledged",
        "incident.resolved",
    ]
    shown = {one["kind"] for one in notifications(door, incident=incident)}
    assert {kind for kind in shown if kind.startswith("incident.")} == {one.body["type"] for one in receiver.taken}
    answer = door.http.get(f"/subscriptions/{subscription}/explain", params={"event": incident}).json()
    of_incident = [one for one in answer["items"] if one["kind"].startswith("incident.")]
    assert [one["kind"] for one in of_incident] == ["incident.resolved", "incident.acknowledged", "incident.opened"]
    assert all(one["matched"] for one in of_incident)


def test_people_are_notified_once_of_an_asset_and_the_explanation_has_the_reason(
    door: Door, receiver: Receiver
) -> None:
    """Of the incident's own asset by the incident, of what is downstream by the risk."""
    add_channel(door, receiver)
    for asset in ("shop.orders", "bi.sales"):
        door.ingest(asset)
    edge = {"from": "shop.orders", "to": "bi.sales", "relationship_type": "used-in"}
    assert door.http.post("/lineage", json={"edges": [edge]}, headers=WAIT).status_code == 200
    subscribe(door, filters={})
    of_table = subscribe(door, destination="other", filters={"assets": ["shop.orders"]})["id"]
    put_secret(door)
    report(door, anomaly("shop.orders", incident="1", details="Late rows"))
    incident = found(door, until=lambda items: len(items) == 1)[0]["incident_id"]
    eventually(lambda: len(receiver.taken) >= 3)
    assert door.http.post(f"/incidents/{incident}/resolve").status_code in {200, 202}
    eventually(lambda: len(receiver.taken) >= 6)
    sent = [(one.path, one.body["type"], one.body["data"]["assets"]) for one in receiver.taken]
    assert [one[1:] for one in sent if one[0] == "ops"] == [
        ("incident.opened", ["shop.orders"]),
        ("risk.at_risk", ["bi.sales"]),
        ("incident.resolved", ["shop.orders"]),
        ("risk.clear", ["bi.sales"]),
    ]
    assert [one[1] for one in sent if one[0] == "other"] == ["incident.opened", "incident.resolved"]
    answer = door.http.get(f"/subscriptions/{of_table}/explain", params={"event": incident}).json()["items"]
    why = next(one["answer"] for one in answer if one["kind"] == "risk.at_risk")
    assert why.startswith("it was not sent: own_assets: 1 of 1 assets are left out")
    assert why.endswith("shop.orders")
