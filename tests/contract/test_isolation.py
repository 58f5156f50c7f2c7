"""Two tenants with the same names: what one reads live, of the past, as history and as receipts is its own.

One lively tenant, once for all tests of this file: changes, an incident, a notification, a run and a tag that
propagates. The other one has assets of the same names and nothing else.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.contract.access import create
from tests.contract.door import WAIT, Door, client
from tests.contract.incidents import found, put_secret, report
from tests.contract.test_notifications import listen, next_message
from tests.contract.test_subscriptions import eventually, notifications
from tests.monte_carlo import anomaly
from tests.openlineage_words import dataset, run_event
from tests.shared_stack import Stack

ORDERS, REPORT = "shop.public.orders", "shop.public.report"


@dataclass(frozen=True)
class Lively:
    """What the first tenant has, and the position of the second before any of it."""

    owner: Door
    stranger: Door
    since: str
    receipts: list[str]  # of a single write, and of a write of many statements
    incident: str
    notification: str


def door_of(stack: Stack, tenant: tuple[str, str], http: httpx.Client) -> Door:
    return Door(stack, *tenant, http)


@pytest.fixture(scope="module")
def lively(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Lively]:
    tenants = [make_tenant() for _ in range(2)]
    with client(stack, tenants[0][1]) as mine, client(stack, tenants[1][1]) as theirs:
        owner, stranger = door_of(stack, tenants[0], mine), door_of(stack, tenants[1], theirs)
        with listen(stranger) as socket:
            assert socket.response is not None
            since = socket.response.headers["lily-position"]
            receipts = act(owner)
            own = stranger.ingest(ORDERS, owner="stranger")
            heard = next_message(socket)  # live: the first that a stranger hears is its own
            assert (heard["metadata_id"], heard["qualified_name"]) == (own, ORDERS)
        (incident,) = found(owner)
        (notification, *_) = eventually(lambda: notifications(owner))
        yield Lively(owner, stranger, since, receipts, incident["incident_id"], notification["id"])


def act(owner: Door) -> list[str]:
    create(owner, "/channels", {"name": "stream", "type": "kafka", "config": {}})
    create(owner, "/subscriptions", {"name": "n", "channel": "stream", "destination": "alerts", "filters": {}})
    put_secret(owner)
    owner.ingest(REPORT)
    body = {"entity_type": "table", "attributes": {"name": "orders", "qualified_name": ORDERS, "owner": "owner"}}
    first = owner.http.post("/ingest-metadata", json=body, headers=WAIT)
    edge = {"from": ORDERS, "to": REPORT, "relationship_type": "derived-from"}
    second = owner.http.post("/lineage", json={"edges": [edge]}, headers=WAIT)
    owner.change("POST", f"/metadata/{ORDERS}/tags", {"tag": "PII"})
    run = run_event(run={"runId": "nightly"}, inputs=[dataset("a")], outputs=[dataset("b")])
    assert owner.http.post("/api/v1/lineage", json=run, headers=WAIT).status_code in {200, 201, 202}
    report(owner, anomaly(ORDERS, incident="1"))
    assert (first.status_code, second.status_code) == (200, 200)
    return [answer.headers["lily-receipt"] for answer in (first, second)]


def test_the_past_of_another_tenant_is_not_replayed(lively: Lively) -> None:
    """From before anything happened, so that a replay without its tenant would begin with the owner's changes."""
    with listen(lively.stranger, since=lively.since) as socket:
        assert next_message(socket)["qualified_name"] == ORDERS
        last = lively.stranger.ingest("shop.public.last")
        assert next_message(socket)["metadata_id"] == last, "nothing of the owner's in between"


def test_the_position_of_another_tenant_shows_nothing_of_it(lively: Lively) -> None:
    """Positions are of the whole log, so any tenant can use one."""
    with listen(lively.owner, since=lively.since) as socket:
        position = next_message(socket)["position"]
    own = {asset["metadata_id"] for asset in lively.stranger.http.get("/metadata").json()["items"]}
    with listen(lively.stranger, since=position) as socket:
        assert {next_message(socket)["metadata_id"] for _ in own} == own


def test_the_history_of_a_name_is_that_of_the_own_asset(lively: Lively) -> None:
    histories = [
        door.http.get(f"/metadata/{ORDERS}/history").json()["items"] for door in (lively.owner, lively.stranger)
    ]
    assert [len(history) for history in histories] == [2, 1]
    asset = lively.owner.read(ORDERS)["metadata_id"]
    for path in ("", "/history", "/tags", "/incidents"):
        assert lively.stranger.http.get(f"/metadata/{asset}{path}").status_code == 404
    assert lively.stranger.http.get(f"/lineage/{asset}").status_code == 404


def test_a_receipt_is_of_its_own_tenant(lively: Lively) -> None:
    for receipt in lively.receipts:
        assert lively.owner.http.get(f"/propagations/{receipt}").json()["state"] == "applied"
        assert lively.stranger.http.get(f"/propagations/{receipt}").status_code == 404


def test_incidents_and_what_they_put_at_risk_are_of_their_own_tenant(lively: Lively) -> None:
    assert lively.owner.http.get(f"/incidents/{lively.incident}").status_code == 200
    stranger = lively.stranger.http
    assert stranger.get("/incidents").json()["items"] == []
    assert stranger.get(f"/metadata/{ORDERS}/incidents").json()["items"] == []
    refused = [
        stranger.get(f"/incidents/{lively.incident}"),
        stranger.get(f"/incidents/{lively.incident}/at-risk"),
        stranger.post(f"/incidents/{lively.incident}/acknowledge"),
        stranger.post(f"/incidents/{lively.incident}/resolve"),
    ]
    assert [answer.status_code for answer in refused] == [404] * 4
    assert lively.stranger.read(ORDERS)["at_risk"] == []
    assert lively.owner.http.get(f"/incidents/{lively.incident}").json()["state"] == "open"


def test_notifications_and_their_receipts_are_of_their_own_tenant(lively: Lively) -> None:
    assert lively.owner.http.get(f"/notifications/{lively.notification}").status_code == 200
    stranger = lively.stranger.http
    assert stranger.get("/notifications").json()["items"] == []
    assert stranger.get(f"/notifications/{lively.notification}").status_code == 404
    assert stranger.post(f"/notifications/{lively.notification}/acknowledge").status_code == 404
    assert stranger.get("/subscriptions").json()["items"] == []


def test_lists_of_the_other_tenant_are_empty(lively: Lively) -> None:
    for path in ("/dead-letters", "/enforcements", "/channels", "/webhook-secrets"):
        assert lively.stranger.http.get(path).json()["items"] == [], path
    assert lively.stranger.http.get("/runs/nightly").status_code == 404
    assert lively.owner.http.get("/runs/nightly").status_code == 200


def test_a_tag_of_another_tenant_reaches_no_asset_of_the_same_name(lively: Lively) -> None:
    lively.stranger.ingest(REPORT)
    shown = {door.tenant: door.read(REPORT)["tags"]["effective"] for door in (lively.owner, lively.stranger)}
    assert shown == {lively.owner.tenant: ["PII"], lively.stranger.tenant: []}


def test_the_audit_names_no_act_of_another_tenant(lively: Lively) -> None:
    def acts(door: Door) -> list[dict[str, Any]]:
        return list(door.http.get("/audit").json()["items"])

    assert any(one["action"] == "channel.added" for one in acts(lively.owner))
    assert not [
        one for one in acts(lively.stranger) if one["action"].startswith(("channel", "subscription", "webhook"))
    ]
