"""What happened to an asset: who, when, what, from which event."""

from typing import Any

from tests.contract.door import WAIT, Door, codes, table


def history(door: Door, asset_id: str, **parameters: Any) -> dict[str, Any]:
    answer = door.http.get(f"/metadata/{asset_id}/history", params=parameters)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_history_tells_each_change_newest_first(door: Door) -> None:
    asset_id = door.ingest("shop.orders", owner="alice")
    door.ingest("shop.orders", owner="bob")
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "Finance"})
    door.change("DELETE", f"/metadata/{asset_id}/tags/finance")
    door.change("DELETE", f"/metadata/{asset_id}")
    door.change("POST", f"/metadata/{asset_id}/restore")
    items = history(door, asset_id)["items"]
    told = [(item["change"], item["layer"], item["version"]) for item in items]
    assert told == [
        ("restored", "user", 6),
        ("deleted", "user", 5),
        ("untagged", "user", 4),
        ("tagged", "user", 3),
        ("updated", "source", 2),
        ("created", "source", 1),
    ]
    assert items[4]["what"] == {"owner": {"from": "alice", "to": "bob"}}
    assert items[3]["what"] == {"tags": {"from": None, "to": ["Finance"]}}
    assert items[0]["causes"][0]["by"] == "tester"
    assert [item["position"] for item in items] == sorted((item["position"] for item in items), reverse=True)


def test_history_names_the_request_that_caused_a_change(door: Door) -> None:
    headers = WAIT | {"X-Correlation-Id": "nightly-run-7"}
    answer = door.http.post("/ingest-metadata", json=table("shop.orders"), headers=headers)
    (item,) = history(door, answer.json()["metadata_id"])["items"]
    assert item["causes"][0]["correlation"] == "nightly-run-7"


def test_an_event_that_changes_nothing_leaves_no_trace(door: Door) -> None:
    asset_id = door.ingest("shop.orders", owner="alice")
    door.ingest("shop.orders", owner="alice")
    assert len(history(door, asset_id)["items"]) == 1
    assert door.read(asset_id)["version"] == 1


def test_history_comes_in_pages(door: Door) -> None:
    for number in range(5):
        asset_id = door.ingest("shop.orders", round=number)
    whole = history(door, asset_id)["items"]
    first = history(door, asset_id, limit=2)
    second = history(door, asset_id, limit=2, cursor=first["next_cursor"])
    third = history(door, asset_id, limit=2, cursor=second["next_cursor"])
    assert first["items"] + second["items"] + third["items"] == whole
    assert third["next_cursor"] is None


def test_a_cursor_of_another_assets_history_is_refused(door: Door) -> None:
    for number in range(2):
        one, other = door.ingest("shop.one", round=number), door.ingest("shop.other", round=number)
    cursor = history(door, one, limit=1)["next_cursor"]
    refused = door.http.get(f"/metadata/{other}/history", params={"cursor": cursor})
    assert (refused.status_code, codes(refused)) == (400, {"INVALID_CURSOR"})
