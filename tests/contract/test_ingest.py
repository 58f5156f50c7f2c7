"""One statement of a source: accepted, applied, superseded; and what its receipt says."""

import time

import pytest

from lily.model import ids
from tests.contract.door import WAIT, Door, codes, table


def test_an_accepted_asset_has_a_final_id_and_a_receipt(door: Door) -> None:
    answer = door.http.post("/ingest-metadata", json=table("shop.orders"))
    assert answer.status_code == 202
    assert answer.json() == {"status": "success", "metadata_id": ids.asset_id(door.tenant, "shop.orders")}
    assert answer.headers["lily-receipt"]


def test_a_waited_for_asset_can_be_read(door: Door) -> None:
    answer = door.http.post("/ingest-metadata", json=table("shop.orders", rows=3, tags=["Finance"]), headers=WAIT)
    assert answer.status_code == 200
    assert answer.json()["superseded"] is False
    assert answer.headers["preference-applied"] == "wait=30"
    asset = door.read(answer.json()["metadata_id"])
    assert asset["attributes"]["rows"] == 3
    assert asset["tags"]["source"] == asset["tags"]["effective"] == ["Finance"]
    assert asset["tenant_id"] == door.tenant
    assert asset["is_deleted"] is False


def test_an_older_event_is_superseded_and_does_not_win(door: Door) -> None:
    door.ingest("shop.orders", owner="new", time="2026-01-02T00:00:00Z")
    old = table("shop.orders", owner="old") | {"time": "2026-01-01T00:00:00Z"}
    answer = door.http.post("/ingest-metadata", json=old, headers=WAIT)
    assert (answer.status_code, answer.json()["superseded"]) == (200, True)
    asset = door.read("shop.orders")
    assert asset["attributes"]["owner"] == "new"
    assert (asset["created_at"], asset["updated_at"]) == ("2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z")


def test_a_source_deletes_and_a_newer_source_event_undoes_it(door: Door) -> None:
    door.ingest("shop.orders")
    door.change("POST", "/ingest-metadata", table("shop.orders") | {"operation": "delete"})
    assert door.read("shop.orders")["is_deleted"] is True
    door.ingest("shop.orders")
    assert door.read("shop.orders")["is_deleted"] is False


def test_without_a_qualified_name_one_is_composed(door: Door) -> None:
    body = {"entity_type": "table", "attributes": {"name": "orders", "data_source": "shop"}}
    asset_id = door.change("POST", "/ingest-metadata", body)["metadata_id"]
    assert door.read(asset_id)["attributes"]["qualified_name"] == "shop.table:orders"


def test_a_receipt_turns_from_pending_to_applied(door: Door) -> None:
    answer = door.http.post("/ingest-metadata", json=table("shop.orders"))
    receipt = f"/propagations/{answer.headers['lily-receipt']}"
    deadline = time.monotonic() + 30
    while (told := door.http.get(receipt).json())["state"] == "pending" and time.monotonic() < deadline:
        time.sleep(0.1)
    assert told["state"] == "applied"
    assert told["metadata_id"] == answer.json()["metadata_id"]
    assert told["started"] <= told["finished"]
    assert told["errors"] == []


def test_a_receipt_says_when_its_event_lost(door: Door) -> None:
    first = door.http.post("/ingest-metadata", json=table("shop.orders", owner="a"), headers=WAIT)
    door.ingest("shop.orders", owner="b")
    assert door.http.get(f"/propagations/{first.headers['lily-receipt']}").json()["state"] == "superseded"


def test_another_tenants_receipt_is_unknown(door: Door, other_door: Door) -> None:
    receipt = door.http.post("/ingest-metadata", json=table("shop.orders")).headers["lily-receipt"]
    assert other_door.http.get(f"/propagations/{receipt}").status_code == 404
    assert door.http.get(f"/propagations/{receipt[:-2]}xx").status_code == 404
    assert door.http.get("/propagations/nonsense").status_code == 404


def test_waiting_no_time_answers_with_the_receipts_address(door: Door) -> None:
    answer = door.http.post("/ingest-metadata", json=table("shop.orders"), headers={"Prefer": "wait=0"})
    assert answer.status_code in {200, 202}
    if answer.status_code == 202:
        assert door.http.get(answer.headers["location"]).status_code == 200


@pytest.mark.parametrize("preference", ["wait=soon", "wait=-1", "wait=1.5", "wait", "wait="])
def test_a_preference_that_is_no_number_of_seconds_is_refused(door: Door, preference: str) -> None:
    answer = door.http.post("/ingest-metadata", json=table("shop.orders"), headers={"Prefer": preference})
    assert answer.status_code == 400
    assert codes(answer) == {"INVALID_VALUE"}


def test_other_preferences_are_nobodys_concern(door: Door) -> None:
    headers = {"Prefer": "respond-async, wait=30; foo"}
    assert door.http.post("/ingest-metadata", json=table("shop.orders"), headers=headers).status_code == 200


def test_the_tenant_may_be_named_if_it_is_the_tokens(door: Door, other_door: Door) -> None:
    own = table("shop.orders") | {"tenant_id": door.tenant}
    assert door.http.post("/ingest-metadata", json=own).status_code == 202
    foreign = table("shop.orders") | {"tenant_id": other_door.tenant}
    refused = door.http.post("/ingest-metadata", json=foreign)
    assert refused.status_code == 403
    assert codes(refused) == {"OTHER_TENANT"}
