"""What ended without authority stands in a queue until somebody with `policy:write` confirms or undoes it."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import psycopg
import pytest

from lily.bus import topics
from lily.model import ids
from tests.contract.door import WAIT, Door, codes, table
from tests.contract.flows import ingest_all
from tests.kafka_reading import records

PENDING = "/protections/pending"
DB = "postgres://db:5432"
WRITER = ("metadata:read", "metadata:write", "lineage:read", "lineage:write")
EDGE = {"from": "crm.people", "to": "mart", "relationship_type": "derived-from"}


@pytest.fixture
def estate(door: Door) -> Door:
    """crm (GDPR) above crm.people (PII in its source), from which mart derives; open has no tags."""
    ingest_all(
        door,
        table("crm", "schema", tags=["GDPR"]),
        table("open", "schema"),
        table("crm.people", parent="crm", tags=["PII"]),
        table("mart"),
    )
    door.change("POST", "/lineage", {"edges": [EDGE]})
    assert effective(door, "mart") == {"GDPR", "PII"}
    return door


def effective(door: Door, name: str) -> set[str]:
    return set(door.read(name)["tags"]["effective"])


def pending(door: Door, **query: Any) -> list[dict[str, Any]]:
    answer = door.http.get(PENDING, params=query)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def run(door: Door, seconds_ago: float, *inputs: str) -> None:
    event = {
        "eventType": "COMPLETE",
        "eventTime": (datetime.now(UTC) - timedelta(seconds=seconds_ago)).isoformat(),
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": "airflow", "name": "load"},
        "inputs": [{"namespace": DB, "name": name} for name in inputs],
        "outputs": [{"namespace": DB, "name": "report"}],
    }
    door.change("POST", "/api/v1/lineage", event)


def stop_reading(weak: Door) -> None:
    run(weak, 60, "orders", "people")
    weak.change("POST", "/metadata/people/tags", {"tag": "PII"})
    run(weak, 30, "orders")


def cut(weak: Door) -> None:
    weak.change("DELETE", "/metadata/crm.people")


# What is done without authority; the asset that keeps a tag by it, the tag, and what the item names.
ENDS: dict[str, tuple[Callable[[Door], Any], str, str, dict[str, str]]] = {
    "tag": (
        lambda weak: weak.change("POST", "/ingest-metadata", table("crm.people", parent="crm", tags=[])),
        "mart",
        "PII",
        {"asset_name": "crm.people"},
    ),
    "parent": (
        lambda weak: weak.change("PUT", "/metadata/crm.people", {"attributes": {"parent": "open"}}),
        "mart",
        "GDPR",
        {"asset_name": "crm.people", "from_name": "crm"},
    ),
    "edge": (
        lambda weak: weak.change("DELETE", "/lineage", {"edges": [EDGE]}),
        "mart",
        "PII",
        {"from_name": "crm.people", "to_name": "mart", "relationship_type": "derived-from"},
    ),
    "claim": (
        stop_reading,
        "report",
        "PII",
        {"from_name": "people", "to_name": "report", "job_name": "job:airflow/load"},
    ),
    "deletion": (cut, "mart", "PII", {"asset_name": "crm.people"}),
}


def end(estate: Door, kind: str) -> dict[str, Any]:
    """Ends something without authority, and returns the item that stands for it."""
    if kind == "deletion":
        assert estate.http.put("/settings", json={"on_delete": "cut"}, headers=WAIT).status_code == 200
    with estate.limited(*WRITER) as weak:
        ENDS[kind][0](weak)
    (item,) = pending(estate)
    return item


def of(estate: Door, name: str) -> set[str]:
    return effective(estate, ids.asset_id(estate.tenant, name))


@pytest.mark.parametrize("kind", ENDS)
def test_an_end_without_authority_is_pending_until_it_is_confirmed(estate: Door, kind: str) -> None:
    item = end(estate, kind)
    _, keeper, tag, about = ENDS[kind]
    assert (item["kind"], item["ended_by"]) == (kind, "limited")
    assert {name: item.get(name) for name in about} == about
    assert tag in item["tags"]
    assert ids.asset_id(estate.tenant, keeper) in item["keeps"]
    assert (item["count"], item["more"]) == (len(item["keeps"]), False)
    assert tag in of(estate, keeper)
    assert estate.change("POST", f"{PENDING}/{item['id']}/confirm") == {
        "status": "success",
        "id": item["id"],
        "outcome": "confirmed",
    }
    assert tag not in of(estate, keeper)
    assert pending(estate) == []
    answer = estate.http.post(f"{PENDING}/{item['id']}/confirm")
    assert (answer.status_code, codes(answer)) == (404, {"NOT_FOUND"})


@pytest.mark.parametrize("kind", ENDS)
def test_an_undone_end_is_visible_again(estate: Door, kind: str) -> None:
    item = end(estate, kind)
    _, keeper, tag, _ = ENDS[kind]
    assert estate.change("POST", f"{PENDING}/{item['id']}/undo")["outcome"] == "undone"
    assert pending(estate) == []
    assert tag in of(estate, keeper)
    people = estate.read("crm.people")
    if kind == "tag":
        assert people["attributes"]["tags"] == ["PII"]
    elif kind == "parent":
        assert people["attributes"]["parent"] == "crm"
    elif kind == "deletion":
        assert people["is_deleted"] is False
    else:
        answer = estate.http.get(f"/lineage/{item['from']}").json()
        assert (item["from"], item["to"]) in {(edge["from"], edge["to"]) for edge in answer["edges"]}


def test_only_callers_with_policy_write_decide(estate: Door, other_door: Door) -> None:
    item = end(estate, "edge")
    one = f"{PENDING}/{item['id']}"
    with estate.limited(*WRITER, "policy:read") as weak:
        assert [found["id"] for found in pending(weak)] == [item["id"]]
        for path, body in (
            (f"{one}/confirm", None),
            (f"{one}/undo", None),
            (f"{PENDING}/confirm", {"ids": [item["id"]]}),
        ):
            answer = weak.http.post(path, json=body)
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
    with estate.limited(*WRITER) as blind:
        assert blind.http.get(PENDING).status_code == 403
    assert pending(other_door) == []
    assert other_door.http.post(f"{one}/confirm").status_code == 404
    assert other_door.http.post(f"{one}/undo").status_code == 404
    assert "PII" in effective(estate, "mart")


def test_an_item_that_has_changed_since_it_was_listed_is_not_confirmed(estate: Door) -> None:
    item = end(estate, "edge")
    with estate.limited(*WRITER) as weak:
        edge = {"from": item["from"], "to": item["to"], "relationship_type": item["relationship_type"]}
        weak.change("POST", "/lineage", {"edges": [edge]})
        ENDS["edge"][0](weak)
    (again,) = pending(estate)
    assert again["id"] != item["id"]
    assert estate.http.post(f"{PENDING}/{item['id']}/confirm").status_code == 404
    decided = estate.change("POST", f"{PENDING}/confirm", {"ids": [item["id"], again["id"]]})
    assert [one["outcome"] for one in decided["items"]] == ["not_found", "confirmed"]


def test_many_are_confirmed_at_once_each_with_its_outcome(estate: Door) -> None:
    with estate.limited(*WRITER) as weak:
        for kind in ("tag", "parent", "edge"):
            ENDS[kind][0](weak)
    found = [item["id"] for item in pending(estate)]
    assert len(found) == 3
    before = confirmed(estate)
    first = estate.http.get(PENDING, params={"limit": 2}).json()
    rest = estate.http.get(PENDING, params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [item["id"] for item in first["items"] + rest["items"]] == found
    decided = estate.change("POST", f"{PENDING}/confirm", {"ids": [*found, "nothing"]})
    assert decided == {
        "items": [*({"id": one, "outcome": "confirmed"} for one in found), {"id": "nothing", "outcome": "not_found"}]
    }
    assert pending(estate) == []
    assert (effective(estate, "crm.people"), effective(estate, "mart")) == (set(), set())
    assert confirmed(estate) >= before + len(found)


def confirmed(door: Door) -> float:
    """Of all tenants, by the metric: a counter of the process."""
    name = 'lily_protection_reviews_total{outcome="confirmed"} '
    return float(door.http.get("/metrics").text.partition(name)[2].split("\n")[0])


def test_parents_that_end_together_are_confirmed_together(estate: Door) -> None:
    """The person's parent covers what the source states, and all that the source had stated before."""
    ingest_all(estate, table("hr", "schema", tags=["PII"]))
    with estate.limited(*WRITER) as weak:
        weak.change("POST", "/ingest-metadata", table("crm.people", parent="hr"))
        weak.change("PUT", "/metadata/crm.people", {"attributes": {"parent": "open"}})
    items = {item["from_name"]: item["id"] for item in pending(estate)}
    assert items.keys() == {"crm", "hr"}
    refused = estate.http.post(f"{PENDING}/{items['hr']}/confirm", headers=WAIT)
    assert (refused.status_code, codes(refused)) == (409, {"NEEDS_OTHERS"})
    assert {item["from_name"] for item in pending(estate)} == {"crm", "hr"}
    assert effective(estate, "mart") == {"GDPR", "PII"}
    answer = estate.http.post(f"{PENDING}/confirm", json={"ids": list(items.values())}, headers=WAIT)
    assert {item["outcome"] for item in answer.json()["items"]} == {"confirmed"}
    assert pending(estate) == []


def test_the_earlier_of_two_parents_is_confirmed_alone(estate: Door) -> None:
    ingest_all(estate, table("hr", "schema", tags=["PII"]))
    with estate.limited(*WRITER) as weak:
        weak.change("POST", "/ingest-metadata", table("crm.people", parent="hr"))
        weak.change("PUT", "/metadata/crm.people", {"attributes": {"parent": "open"}})
    items = {item["from_name"]: item["id"] for item in pending(estate)}
    estate.change("POST", f"{PENDING}/{items['crm']}/confirm")
    (left,) = pending(estate)
    assert (left["from_name"], effective(estate, "mart")) == ("hr", {"PII"})
    estate.change("POST", f"{PENDING}/{left['id']}/confirm")
    assert pending(estate) == []


def test_a_decision_is_audited_and_published(estate: Door) -> None:
    item = end(estate, "tag")
    estate.change("POST", f"{PENDING}/{item['id']}/confirm")
    with psycopg.connect(estate.stack.database) as connection:
        asked = "select action, detail -> 'after' from audit where tenant_id = %s and entity = %s"
        ((action, audited),) = connection.execute(asked, [estate.tenant, item["id"]]).fetchall()
    assert action == "protection.confirmed"
    assert (audited["kind"], audited["tags"], audited["decision"]) == ("tag", ["pii"], "confirmed")
    key = f"{estate.tenant}/protection/{item['id']}"
    (published,) = [one for one in records(estate.stack.kafka.client, topics.POLICIES) if one.key == key]
    data = orjson.loads(published.value or b"")["data"]
    assert (data["kind"], data["name"], data["after"]["decision"]) == ("protection", item["id"], "confirmed")
