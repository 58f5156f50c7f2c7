"""One asset: read, changed by a person, deleted, restored."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.contract.door import Door, codes, table

FIELDS = {
    "metadata_id",
    "entity_type",
    "attributes",
    "tags",
    "at_risk",
    "tenant_id",
    "version",
    "is_deleted",
    "created_at",
    "updated_at",
    "fresh_as_of",
}


def test_an_asset_reads_alike_by_id_name_and_batch(door: Door) -> None:
    asset_id = door.ingest("shop.public.orders", owner="alice", parent="shop.public", region={"a": [1, None]})
    asset = door.read(asset_id)
    assert set(asset) == FIELDS
    assert asset["attributes"]["region"] == {"a": [1, None]}
    assert door.read(asset_id.upper()) == asset
    assert door.read("shop.public.orders") == asset
    assert door.http.get("/metadata/by-name", params={"qualified_name": "shop.public.orders"}).json() == asset
    batch = door.http.post("/metadata/batch-get", json={"ids": ["nowhere", asset_id, "shop.public.orders"]})
    assert batch.json() == {"items": [asset], "missing": ["nowhere"], "denied": [], "next_cursor": None}


def test_a_name_with_slashes_and_odd_characters_is_found(door: Door) -> None:
    name = "s3://bucket/a b/c?d#e%20f/größe.parquet"
    asset_id = door.ingest(name, "file")
    assert door.http.get("/metadata/by-name", params={"qualified_name": name}).json()["metadata_id"] == asset_id
    quoted = "s3:%2F%2Fbucket%2Fa%20b%2Fc%3Fd%23e%2520f%2Fgr%C3%B6%C3%9Fe.parquet"
    assert door.read(quoted)["metadata_id"] == asset_id


@pytest.mark.parametrize("path", ["/metadata/nowhere", "/metadata/0b1c2d3e-0000-4000-8000-000000000000", "/metadata/"])
def test_an_unknown_asset_is_not_found(door: Door, path: str) -> None:
    answer = door.http.get(path)
    assert answer.status_code == 404
    assert codes(answer) == {"NOT_FOUND"}


def test_a_person_overrides_and_the_source_shows_again_when_cleared(door: Door) -> None:
    asset_id = door.ingest("shop.orders", owner="source", description="from the source")
    door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"owner": "person", "note": {"x": 1}}})
    shown = door.read(asset_id)["attributes"]
    assert (shown["owner"], shown["description"], shown["note"]) == ("person", "from the source", {"x": 1})
    door.ingest("shop.orders", owner="source again")
    assert door.read(asset_id)["attributes"]["owner"] == "person"
    door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"owner": None}})
    assert door.read(asset_id)["attributes"]["owner"] == "source again"


def test_changes_by_name_are_the_same_changes(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    by_name = "/metadata/by-name?qualified_name=shop.orders"
    door.change("PUT", by_name, {"attributes": {"owner": "me"}})
    assert door.read(asset_id)["attributes"]["owner"] == "me"
    door.change("DELETE", by_name)
    assert door.read(asset_id)["is_deleted"] is True


def test_a_persons_deletion_outlives_the_source_until_it_is_restored(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    door.change("DELETE", f"/metadata/{asset_id}")
    door.ingest("shop.orders", owner="refreshed")
    assert door.read(asset_id)["is_deleted"] is True
    assert door.http.get("/metadata").json()["items"] == []
    door.change("POST", f"/metadata/{asset_id}/restore")
    assert door.read(asset_id)["is_deleted"] is False


@pytest.mark.parametrize(
    ("method", "suffix", "body"),
    [
        ("PUT", "", {"attributes": {"owner": "me"}}),
        ("DELETE", "", None),
        ("POST", "/restore", None),
        ("POST", "/tags", {"tag": "PII"}),
        ("DELETE", "/tags/PII", None),
    ],
)
def test_what_does_not_exist_cannot_be_changed(door: Door, method: str, suffix: str, body: Any) -> None:
    answer = door.http.request(method, f"/metadata/nowhere{suffix}", json=body)
    assert answer.status_code == 404
    assert codes(answer) == {"NOT_FOUND"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"attributes": {}},
        {"attributes": None},
        {"attributes": []},
        {"attributes": {"owner": 5}},
        {"attributes": {"tags": "PII"}},
        {"attributes": {"qualified_name": "another.name"}},
        {"attributes": {"qualified_name": "shop.orders"}},
        {"attributes": {"$deleted": True}},
        {"attributes": {"owner": "me"}, "version": 3},
        [],
    ],
)
def test_a_change_that_states_nothing_legal_is_refused(door: Door, body: Any) -> None:
    asset_id = door.ingest("shop.orders")
    before = door.read(asset_id)
    answer = door.http.put(f"/metadata/{asset_id}", json=body)
    assert answer.status_code == 400
    assert codes(answer)
    assert door.read(asset_id) == before


def test_a_write_that_was_waited_for_is_read_by_whoever_comes_after(door: Door) -> None:
    asset_id = door.ingest("shop.orders", round=0)
    for number in range(1, 6):
        door.change("POST", "/ingest-metadata", table("shop.orders", round=number))
        assert door.read(asset_id)["attributes"]["round"] == number


@pytest.mark.parametrize("name", ["a/b/history", "x/tags", "x/restore", "by-name", "batch-get", "100%2Fsure"])
def test_a_name_may_look_like_a_path_of_the_api(door: Door, name: str) -> None:
    asset_id = door.ingest(name)
    encoded = quote(name, safe="")
    by_name = door.http.get("/metadata/by-name", params={"qualified_name": name})
    assert by_name.json()["metadata_id"] == asset_id
    if name != "by-name":  # the one name that a path of its own takes
        assert door.read(encoded)["metadata_id"] == asset_id
    history = door.http.get(f"/metadata/{encoded}/history").json()["items"]
    assert [item["change"] for item in history] == ["created"]
    assert door.change("POST", f"/metadata/{encoded}/tags", {"tag": "a/suppress"})["metadata_id"] == asset_id
    assert [item["tag"] for item in door.http.get(f"/metadata/{encoded}/tags").json()["items"]] == ["a/suppress"]
    door.change("DELETE", f"/metadata/{encoded}/tags/a%2Fsuppress")
    assert door.http.get(f"/metadata/{encoded}/tags").json()["items"] == []


def test_a_read_is_as_fresh_as_the_newest_change_it_shows(door: Door) -> None:
    asset_id = door.ingest("shop.orders", time="2026-01-01T00:00:00Z")
    door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"owner": "bob"}})
    shown = door.read(asset_id)
    assert shown["fresh_as_of"] >= shown["updated_at"] > shown["created_at"]
