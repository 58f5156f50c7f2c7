"""What only the lake has is read like everything else: by id, by name, in lists, as it was, and how it came to be."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import orjson
import pytest

from lily.model import clock
from tests.contract.door import Door, client, codes, names, table
from tests.shared_stack import Stack

TABLE = "shop.public.orders"
COLUMNS = [f"{TABLE}.{name}" for name in ("amount", "city", "id", "ordered_at", "zip")]


@pytest.fixture(scope="module")
def door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    """A tenant with a table, whose columns only the lake has."""
    tenant, token = make_tenant()
    with client(stack, token) as http:
        http.timeout = httpx.Timeout(150)
        door = Door(stack, tenant, token, http)
        send(door, table(TABLE, owner="alice"), *(column(name, owner="alice") for name in COLUMNS))
        yield door


def column(name: str, **attributes: Any) -> dict[str, Any]:
    return table(name, "column", parent=name.rpartition(".")[0], **attributes)


def send(door: Door, *rows: dict[str, Any]) -> None:
    """In bulk, until it can be read."""
    headers = {"Content-Type": "application/x-ndjson", "Prefer": "wait=60"}
    body = b"\n".join(orjson.dumps(row) for row in rows)
    answer = door.http.post("/ingest-metadata/bulk", content=body, headers=headers)
    assert answer.status_code == 200, answer.text


def pages(door: Door, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        answer = door.http.get("/metadata", params=asked)
        assert answer.status_code == 200, answer.text
        found += answer.json()["items"]
        if (cursor := answer.json()["next_cursor"]) is None:
            return found
        asked["cursor"] = cursor


def when_recorded(door: Door, reference: str, as_of: str) -> httpx.Response:
    """The answer once the lake has come that far."""
    for _ in range(240):
        answer = door.http.get(f"/metadata/{reference}", params={"as_of": as_of})
        if answer.status_code != 503:
            return answer
        assert answer.headers["retry-after"]
        time.sleep(0.5)
    raise AssertionError(answer.text)


def test_a_column_in_the_lake_is_read_by_id_and_by_name(door: Door) -> None:
    by_name = door.http.get("/metadata/by-name", params={"qualified_name": COLUMNS[0]}).json()
    assert by_name["attributes"] | {"name": "amount", "owner": "alice", "parent": TABLE} == by_name["attributes"]
    by_id = door.read(by_name["metadata_id"])
    assert by_id["tenant_id"] == door.tenant
    assert by_id["fresh_as_of"] >= by_name["fresh_as_of"] >= by_id["updated_at"]
    assert by_id | {"fresh_as_of": ""} == by_name | {"fresh_as_of": ""}
    assert door.read(TABLE)["attributes"]["name"] == "orders"


def test_a_batch_takes_from_both_stores(door: Door) -> None:
    asked = {"ids": [COLUMNS[1], TABLE, "no.such.asset", COLUMNS[0]]}
    told = door.http.post("/metadata/batch-get", json=asked).json()
    assert names(told["items"]) == [COLUMNS[1], TABLE, COLUMNS[0]]
    assert told["missing"] == ["no.such.asset"]


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sort", ["id", "name", "qualified_name", "created_at"])
def test_children_of_both_stores_are_one_list(door: Door, sort: str, order: str) -> None:
    hot = column(f"{TABLE}.name", tags=["Plain"])
    send(door, hot)
    whole = pages(door, parent=TABLE, sort=sort, order=order)
    assert sorted(names(whole)) == sorted([*COLUMNS, f"{TABLE}.name"])
    keys = [str(item.get(sort, item["attributes"].get(sort, item["metadata_id"]))) for item in whole]
    assert keys == sorted(keys, reverse=order == "desc")
    for limit in (1, 2, 4):
        assert names(pages(door, parent=TABLE, sort=sort, order=order, limit=limit)) == names(whole)
    by_id = pages(door, parent=door.read(TABLE)["metadata_id"], sort=sort, order=order)
    assert names(by_id) == names(whole)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"q": "orders zip"}, {f"{TABLE}.zip"}),
        ({"q": "ordered"}, {f"{TABLE}.ordered_at"}),
        ({"q": "' & | !"}, set()),
        ({"q": "amount", "entity_type": "column"}, {f"{TABLE}.amount"}),
        ({"q": "amount", "entity_type": "table"}, set()),
        ({"q": "amount", "owner": "alice"}, {f"{TABLE}.amount"}),
        ({"q": "amount", "owner": "bob"}, set()),
        ({"q": "amount", "data_source": "wh"}, set()),
        ({"q": "amount", "tag": "pii"}, set()),
        ({"q": "city", "parent": TABLE}, {f"{TABLE}.city"}),
        ({"parent": "shop.public"}, set()),
    ],
)
def test_filters_find_what_only_the_lake_has(door: Door, filters: dict[str, str], expected: set[str]) -> None:
    assert set(names(pages(door, **filters))) == expected


def test_a_list_of_everything_tells_each_asset_once(door: Door) -> None:
    whole = names(pages(door))
    assert len(whole) == len(set(whole))
    assert {TABLE, *COLUMNS} <= set(whole)
    assert whole[0] == TABLE or TABLE in whole[: len(whole) - len(COLUMNS)]  # the serving store's come first
    for limit in (1, 3):
        assert names(pages(door, limit=limit)) == whole


@pytest.mark.campaign
def test_a_person_edits_a_column_that_only_the_lake_has(door: Door) -> None:
    name = "shop.public.people.email"
    send(door, column(name, owner="alice", data_type="text"))
    before = door.read(name)
    door.change("PUT", f"/metadata/{name}", {"attributes": {"description": "where to write to"}})
    door.change("POST", f"/metadata/{name}/tags", {"tag": "PII"})
    for _ in range(3):
        after = door.read(before["metadata_id"])
        assert after["attributes"]["data_type"] == "text"
        assert after["attributes"]["description"] == "where to write to"
        assert (after["entity_type"], after["tags"]["effective"]) == ("column", ["PII"])
        assert names(pages(door, parent="shop.public.people")) == [name]
        time.sleep(1)
    for _ in range(3):  # before and after its past is carried over
        history = door.http.get(f"/metadata/{name}/history").json()["items"]
        assert [item["change"] for item in history] == ["tagged", "updated", "created"]
        first, rest = (door.http.get(f"/metadata/{name}/history", params=asked).json() for asked in pairs(door, name))
        assert first["items"] + rest["items"] == history
        time.sleep(4)


def pairs(door: Door, name: str) -> Iterator[dict[str, Any]]:
    """The questions for a history in two pages."""
    yield {"limit": 2}
    yield {"cursor": door.http.get(f"/metadata/{name}/history", params={"limit": 2}).json()["next_cursor"]}


def test_history_of_a_column_in_the_lake_is_told_from_its_events(door: Door) -> None:
    name = "shop.public.items.price"
    for owner in ("alice", "alice", "bob"):
        send(door, column(name, owner=owner))
    told = door.http.get(f"/metadata/{name}/history").json()
    assert [(item["change"], item["version"], item["layer"]) for item in told["items"]] == [
        ("updated", 2, "source"),
        ("created", 1, "source"),
    ]
    assert told["items"][0]["what"] == {"owner": {"from": "alice", "to": "bob"}}
    assert told["items"][0]["causes"][0]["by"] == "tester"
    first = door.http.get(f"/metadata/{name}/history", params={"limit": 1}).json()
    asked = {"limit": 1, "cursor": first["next_cursor"]}
    second = door.http.get(f"/metadata/{name}/history", params=asked).json()
    assert first["items"] + second["items"] == told["items"]
    assert second["next_cursor"] is None


def test_as_of_shows_a_column_as_it_was(door: Door) -> None:
    name = "shop.public.items.size"
    before = clock.now()
    times = []
    for owner in ("alice", "bob"):
        send(door, column(name, owner=owner))
        times.append(clock.now())
    assert when_recorded(door, name, before).status_code == 404
    for at, owner in zip(times, ("alice", "bob"), strict=True):
        past = when_recorded(door, name, at).json()
        assert (past["attributes"]["owner"], past["fresh_as_of"]) == (owner, at)
    by_name = door.http.get("/metadata/by-name", params={"qualified_name": name, "as_of": times[0]})
    assert by_name.json()["attributes"]["owner"] == "alice"


def test_as_of_shows_a_table_as_it_was(door: Door) -> None:
    name, times = "shop.public.customers", []
    for owner in ("alice", "bob"):
        door.ingest(name, owner=owner)
        times.append(clock.now())
    door.change("DELETE", f"/metadata/{name}")
    now = clock.now()
    # What has not changed since needs no lake.
    assert door.http.get(f"/metadata/{name}", params={"as_of": now}).json()["is_deleted"] is True
    for at, owner in zip(times, ("alice", "bob"), strict=True):
        past = when_recorded(door, name, at).json()
        assert (past["attributes"]["owner"], past["is_deleted"]) == (owner, False)


@pytest.mark.parametrize(
    ("as_of", "code"), [("yesterday", "INVALID_TIME"), ("2999-01-01T00:00:00Z", "TIME_IN_FUTURE"), ("", "INVALID_TIME")]
)
def test_a_time_that_is_none_is_refused(door: Door, as_of: str, code: str) -> None:
    refused = door.http.get(f"/metadata/{TABLE}", params={"as_of": as_of})
    assert (refused.status_code, codes(refused)) == (400, {code})


def test_another_tenants_column_does_not_exist(
    door: Door, stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    asset_id = door.read(COLUMNS[0])["metadata_id"]
    _, token = make_tenant()
    with client(stack, token) as http:
        for path in ("", "/history", "/tags", f"?as_of={clock.now()}"):
            assert http.get(f"/metadata/{asset_id}{path}").status_code == 404
        assert http.put(f"/metadata/{asset_id}", json={"attributes": {"owner": "x"}}).status_code == 404
        assert http.get("/metadata").json() == {"items": [], "next_cursor": None}
        assert http.get("/metadata", params={"parent": TABLE}).json()["items"] == []
        assert http.post("/metadata/batch-get", json={"ids": [asset_id]}).json()["items"] == []
