"""Two lanes, one catalogue: whoever reads cannot tell which way an asset came."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import httpx
import orjson
import psycopg
import pytest
from confluent_kafka import Producer

from lily.bus import topics
from lily.estate import Estate
from lily.model import clock, ids
from tests.contract.door import Door, client, names, table
from tests.contract.test_notifications import listen, next_message
from tests.shared_stack import Stack, lily

pytestmark = pytest.mark.campaign  # it waits for the lake again and again

NDJSON = {"Content-Type": "application/x-ndjson"}
WAIT = {"Prefer": "wait=60"}
TABLE = "shop.public.orders"


@pytest.fixture
def door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    tenant, token = make_tenant()
    with client(stack, token) as http:
        http.timeout = httpx.Timeout(120)
        yield Door(stack, tenant, token, http)


def column(place: str, **attributes: Any) -> dict[str, Any]:
    return table(f"{TABLE}.{place}", "column", parent=TABLE, **attributes)


def send(door: Door, rows: list[dict[str, Any]], headers: dict[str, str] = WAIT) -> httpx.Response:
    body = b"\n".join(orjson.dumps(row) for row in rows)
    answer = door.http.post("/ingest-metadata/bulk", content=body, headers=NDJSON | headers)
    assert (answer.json()["accepted"], answer.json()["rejected"]) == (len(rows), 0), answer.text
    return answer


def applied(door: Door, rows: list[dict[str, Any]]) -> None:
    """Sent, and readable."""
    assert send(door, rows).status_code == 200


def listed(door: Door, **question: Any) -> dict[str, dict[str, Any]]:
    """All pages of a list, by the last part of the name."""
    found: dict[str, dict[str, Any]] = {}
    while True:
        page = door.http.get("/metadata", params=question).json()
        found |= {item["attributes"]["name"]: item for item in page["items"]}
        if page["next_cursor"] is None:
            return found
        question["cursor"] = page["next_cursor"]


def test_a_mixed_body_is_answered_when_both_lanes_are_applied(door: Door) -> None:
    rows = [table(TABLE), column("email", tags=["PII"]), *(column(f"c{number}", rank=number) for number in range(20))]
    answer = send(door, rows)
    assert answer.status_code == 200
    assert door.http.get(f"/propagations/{answer.headers['lily-receipt']}").json()["state"] == "applied"
    for row in rows:
        assert door.read(row["attributes"]["qualified_name"])["attributes"]["name"] == row["attributes"]["name"]
    assert set(listed(door, parent=TABLE)) == {"email", *(f"c{number}" for number in range(20))}


def test_assets_of_both_lanes_are_read_together(door: Door) -> None:
    rows = [table(TABLE), column("email", tags=["PII"]), column("id")]
    applied(door, rows)
    asked = [row["attributes"]["qualified_name"] for row in rows]
    told = door.http.post("/metadata/batch-get", json={"ids": [*asked, f"{TABLE}.none"]}).json()
    assert set(names(told["items"])) == set(asked)
    assert told["missing"] == [f"{TABLE}.none"]


def test_a_column_may_come_before_its_parent(door: Door) -> None:
    applied(door, [column("id", data_type="bigint")])
    assert door.read(f"{TABLE}.id")["attributes"]["data_type"] == "bigint"
    assert set(listed(door, parent=TABLE)) == {"id"}
    assert door.http.get(f"/metadata/{TABLE}").status_code == 404
    applied(door, [table(TABLE)])
    assert set(listed(door, parent=TABLE)) == {"id"}


def test_twenty_thousand_copies_of_fifty_columns_are_fifty_columns(door: Door) -> None:
    began = datetime.now(UTC) - timedelta(days=1)
    copies = [
        column(f"c{number}", data_type="bigint", copy=copy) | {"time": clock.stamp(began + timedelta(seconds=copy))}
        for copy in range(400)
        for number in range(50)
    ]
    Random(7).shuffle(copies)
    applied(door, copies)
    found = listed(door, parent=TABLE, limit=20)
    assert set(found) == {f"c{number}" for number in range(50)}
    assert {item["attributes"]["copy"] for item in found.values()} == {399}
    read = door.read(f"{TABLE}.c7")
    assert (read["created_at"], read["updated_at"]) == (
        clock.stamp(began),
        clock.stamp(began + timedelta(seconds=399)),
    )


def test_columns_outlive_a_parent_that_is_deleted_while_they_are_in_flight(door: Door) -> None:
    applied(door, [table(TABLE)])
    send(door, [column(f"c{number}") for number in range(500)], headers={})
    door.change("DELETE", f"/metadata/{TABLE}")
    applied(door, [column(f"c{number}") for number in range(500, 600)])
    assert door.read(TABLE)["is_deleted"] is True
    assert TABLE not in names(door.http.get("/metadata").json()["items"])
    assert len(listed(door, parent=TABLE, limit=1000)) == 600
    assert not any(item["is_deleted"] for item in listed(door, parent=TABLE, limit=1000).values())


def test_a_source_may_delete_a_parent_in_the_very_body_that_states_its_columns(door: Door) -> None:
    applied(door, [table(TABLE), column("a"), table(TABLE) | {"operation": "delete"}, column("b")])
    assert door.read(TABLE)["is_deleted"] is True
    assert set(listed(door, parent=TABLE)) == {"a", "b"}


def test_a_tag_on_a_plain_column_shows_at_once_with_what_its_source_said(door: Door) -> None:
    applied(door, [table(TABLE), column("email", data_type="text", rank=3)])
    asset_id = door.read(f"{TABLE}.email")["metadata_id"]
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "PII"})
    read = door.read(asset_id)
    assert read["entity_type"] == "column"
    assert (read["attributes"]["data_type"], read["attributes"]["rank"]) == ("text", 3)
    assert (read["tags"]["user"], read["tags"]["effective"]) == (["PII"], ["PII"])
    assert set(listed(door, tag="PII")) == {"email"}
    assert set(listed(door, parent=TABLE)) == {"email"}


def test_a_promoted_column_follows_its_source_and_keeps_what_a_person_said(door: Door) -> None:
    applied(door, [table(TABLE), column("email", data_type="text", description="from the source")])
    asset_id = door.read(f"{TABLE}.email")["metadata_id"]
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "PII"})
    door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"description": "from a person"}})
    for data_type in ("varchar(320)", "citext"):
        applied(door, [column("email", data_type=data_type, description="refreshed", length=320)])
        for read in (door.read(asset_id), listed(door, tag="PII")["email"], listed(door, parent=TABLE)["email"]):
            assert read["attributes"]["data_type"] == data_type
            assert read["attributes"]["length"] == 320
            assert read["attributes"]["description"] == "from a person"
            assert read["tags"]["effective"] == ["PII"]


def test_a_refresh_that_is_older_than_what_is_known_changes_nothing(door: Door) -> None:
    applied(door, [column("email", data_type="citext")])
    asset_id = door.read(f"{TABLE}.email")["metadata_id"]
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "PII"})
    applied(door, [column("email", data_type="text") | {"time": "2020-01-01T00:00:00Z"}])
    read = door.read(asset_id)
    assert read["attributes"]["data_type"] == "citext"
    assert read["created_at"] == "2020-01-01T00:00:00.000000Z"


def test_a_column_that_only_the_lake_holds_can_be_deleted_and_restored(door: Door) -> None:
    applied(door, [table(TABLE), column("id", data_type="bigint"), column("kept")])
    asset_id = door.read(f"{TABLE}.id")["metadata_id"]
    door.change("DELETE", f"/metadata/{asset_id}")
    assert door.read(asset_id)["is_deleted"] is True
    assert set(listed(door, parent=TABLE)) == {"kept"}
    assert set(listed(door, parent=TABLE, include_deleted=True)) == {"id", "kept"}
    applied(door, [column("id", data_type="integer")])
    assert set(listed(door, parent=TABLE)) == {"kept"}
    door.change("POST", f"/metadata/{asset_id}/restore")
    found = listed(door, parent=TABLE)
    assert set(found) == {"id", "kept"}
    assert found["id"]["attributes"]["data_type"] == "integer"


def test_one_tenant_does_not_see_the_columns_of_another(
    door: Door, stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    applied(door, [column("id")])
    asset_id = door.read(f"{TABLE}.id")["metadata_id"]
    _, token = make_tenant()
    with client(stack, token) as http:
        assert http.get(f"/metadata/{asset_id}").status_code == 404
        assert http.get(f"/metadata/{TABLE}.id").status_code == 404
        assert http.get("/metadata", params={"parent": TABLE}).json()["items"] == []


def test_what_the_bulk_lane_refuses_is_a_dead_letter_and_can_be_tried_again(door: Door) -> None:
    producer = Producer(door.stack.kafka.client)
    key = topics.key_of(door.tenant, ids.asset_id(door.tenant, "x"))
    producer.produce(topics.ASSETS_BULK, b"{ no json", key)
    assert producer.flush(30) == 0
    (letter,) = letters(door, 1)
    assert (letter["topic"], letter["original"]) == (topics.ASSETS_BULK, "{ no json")
    answer = door.http.post("/dead-letters/replay", json={"ids": [letter["id"]]})
    assert answer.json() == {"replayed": 1, "missing": [], "denied": []}
    assert [again["topic"] for again in letters(door, 2)] == [topics.ASSETS_BULK] * 2


def letters(door: Door, at_least: int) -> list[dict[str, Any]]:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        items: list[dict[str, Any]] = door.http.get("/dead-letters").json()["items"]
        if len(items) >= at_least:
            return items
        time.sleep(0.2)
    raise AssertionError(f"{len(items)} dead letters, not {at_least}")


def test_an_estate_is_readable_when_the_command_that_sent_it_returns(stack: Stack) -> None:
    told = lily("estate", "--assets", "3000", "--seed", "5", "--ingest", "--wait", data_dir=stack.data_dir)
    assert told.returncode == 0, told.stderr
    answer = json.loads(told.stdout.splitlines()[-1])
    assert (answer["accepted"], answer["rejected"], answer["readable"]) == (3000, 0, True)
    assert answer["structure"] + answer["columns"] == 3000
    estate = [event["attributes"] for event in Estate(3000, seed=5).events()]
    parent = "shop.public.orders_0"
    with client(stack, stack.token) as http:
        items = http.get("/metadata", params={"parent": parent}).json()["items"]
    assert set(names(items)) == {asset["qualified_name"] for asset in estate if asset.get("parent") == parent}


def test_tagging_a_column_of_the_lake_is_announced_as_what_it_is(door: Door) -> None:
    applied(door, [table(TABLE), column("email", data_type="text")])
    asset_id = door.read(f"{TABLE}.email")["metadata_id"]
    with listen(door, entity_type="column") as socket, listen(door, metadata_id=asset_id) as unfiltered:
        door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "Finance"})
        door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "Sales"})
        promoted(door, asset_id)
        door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"owner": "alice"}})
        heard = [next_message(socket) for _ in range(3)]
        assert [(message["change"], message["tags"]["added"]) for message in heard] == [
            ("tagged", ["Finance"]),
            ("tagged", ["Sales"]),
            ("updated", []),
        ]
        assert {(message["entity_type"], message["metadata_id"]) for message in heard} == {("column", asset_id)}
        assert [next_message(unfiltered)["id"] for _ in heard] == [message["id"] for message in heard]
    history = door.http.get(f"/metadata/{asset_id}/history").json()["items"]
    assert [item["change"] for item in history] == ["updated", "tagged", "tagged", "created"]


def promoted(door: Door, asset_id: str) -> None:
    """Waits until PostgreSQL has taken the asset over from the lake."""
    asked = "select not awaits_lake from assets where tenant_id = %s and id = %s"
    with psycopg.connect(door.stack.database, autocommit=True) as connection:
        while connection.execute(asked, [door.tenant, asset_id]).fetchone() != (True,):
            time.sleep(0.1)
