"""Tags that reached an asset from elsewhere: how they are shown, found and explained."""

import time
from typing import Any

import psycopg
import pytest

from lily.model import clock, ids
from tests.contract.door import WAIT, Door, names, table
from tests.contract.flows import connect, ingest_all, propagate
from tests.stored_lineage import stored_definitions, stored_graph
from tests.tag_oracle import replay


def tags_of(door: Door, reference: str) -> dict[str, list[str]]:
    return dict(door.read(reference)["tags"])


def items_of(door: Door, reference: str, **parameters: Any) -> list[dict[str, Any]]:
    answer = door.http.get(f"/metadata/{reference}/tags", params=parameters)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def found(door: Door, **parameters: Any) -> set[str]:
    answer = door.http.get("/metadata", params=parameters)
    assert answer.status_code == 200, answer.text
    return set(names(answer.json()["items"]))


@pytest.fixture
def flow(door: Door) -> Door:
    """crm (Team) above crm.people (PII) → mart.people → bi.report; mart.people has a column."""
    ingest_all(
        door,
        table("crm", "database", tags=["Team"]),
        table("crm.people", parent="crm", tags=["pii"]),
        table("mart.people"),
        table("bi.report", "dashboard"),
    )
    door.ingest("mart.people.email", "column", parent="mart.people")
    connect(door, ("crm.people", "mart.people"), ("mart.people", "bi.report"))
    propagate(door)
    return door


def test_the_receipt_of_edges_tells_what_they_let_through(flow: Door) -> None:
    edges = [("crm.people", "bi.one"), ("crm.people", "bi.two"), ("bi.two", "bi.three"), ("bi.one", "bi.three")]
    body = [{"from": start, "to": end, "relationship_type": "derived-from"} for start, end in edges]
    answer = flow.http.post("/lineage", json={"edges": body}, headers=WAIT)
    assert answer.status_code == 200, answer.text
    told = flow.http.get(f"/propagations/{answer.headers['lily-receipt']}").json()
    assert (told["state"], told["reached"], told["depth"]) == ("applied", 3, 2)
    assert told["started"] < told["finished"]


def test_a_tag_that_travelled_is_shown_everywhere_an_asset_is(flow: Door) -> None:
    report = flow.read("bi.report")
    assert report["tags"]["propagated"] == report["tags"]["effective"] == ["PII"]
    assert report["attributes"]["tags"] == []
    assert flow.read(report["metadata_id"]) == report
    assert flow.http.post("/metadata/batch-get", json={"ids": ["bi.report"]}).json()["items"] == [report]
    assert report in flow.http.get("/metadata", params={"entity_type": "dashboard"}).json()["items"]
    assert report in flow.http.get("/metadata", params={"sort": "name", "order": "desc"}).json()["items"]


def test_the_tags_of_an_ancestor_come_down_and_only_those_that_protect_take_effect(flow: Door) -> None:
    assert tags_of(flow, "mart.people.email")["inherited"] == ["PII"]
    assert tags_of(flow, "mart.people.email")["effective"] == ["PII"]
    people = tags_of(flow, "crm.people")
    assert (people["inherited"], people["effective"]) == (["Team"], ["PII"])


def test_a_column_that_only_the_lake_has_shows_what_reached_it(flow: Door) -> None:
    row = table("mart.people.phone", "column", parent="mart.people")
    answer = flow.http.post("/ingest-metadata/bulk", json=[row], headers=WAIT)
    assert answer.status_code == 200, answer.text
    connect(flow, ("crm.people", "mart.people.phone"))
    propagate(flow)
    with psycopg.connect(flow.stack.database) as connection:
        asked = "select count(*) from assets where tenant_id = %s and id = %s"
        assert connection.execute(asked, [flow.tenant, ids.asset_id(flow.tenant, "mart.people.phone")]).fetchone() == (
            0,
        )
    phone = flow.read("mart.people.phone")
    assert phone["tags"]["inherited"] == phone["tags"]["propagated"] == phone["tags"]["effective"] == ["PII"]
    for filters in ({"parent": "mart.people"}, {"entity_type": "column"}):
        listed = flow.http.get("/metadata", params=filters).json()["items"]
        assert phone["tags"] in [one["tags"] for one in listed if one["metadata_id"] == phone["metadata_id"]]
    assert "mart.people.phone" in found(flow, tag="PII")
    assert "mart.people.phone" in found(flow, tag="PII", parent="mart.people")
    assert "mart.people.phone" not in found(flow, tag="PII", entity_type="table")


def test_a_deleted_ancestor_conducts_unless_the_tenant_cuts(flow: Door) -> None:
    flow.change("DELETE", "/metadata/mart.people")
    assert tags_of(flow, "mart.people.email")["effective"] == ["PII"]
    assert flow.http.put("/settings", json={"on_delete": "cut"}).status_code == 200
    assert tags_of(flow, "mart.people.email")["effective"] == []


def test_parents_that_go_round_in_a_circle_end(door: Door) -> None:
    ingest_all(door, table("a", parent="b", tags=["PII"]), table("b", parent="c"), table("c", parent="a"))
    assert tags_of(door, "b")["inherited"] == tags_of(door, "c")["inherited"] == ["PII"]
    assert tags_of(door, "a")["inherited"] == []


def test_a_list_of_a_tag_has_what_states_it_in_any_layer_and_what_it_reached(flow: Door) -> None:
    flow.ingest("other", tags=["public"])
    flow.change("POST", "/metadata/other/tags", {"tag": "PII"})
    assert found(flow, tag="pii") == {"crm.people", "mart.people", "bi.report", "other"}
    pages: list[str] = []
    asked: dict[str, Any] = {"tag": "pii", "limit": 2}
    while asked.get("cursor", "") is not None:
        page = flow.http.get("/metadata", params=asked).json()
        pages += names(page["items"])
        asked["cursor"] = page["next_cursor"]
    assert sorted(pages) == ["bi.report", "crm.people", "mart.people", "other"]


def test_every_tag_is_explained_by_a_path_that_can_be_replayed(flow: Door) -> None:
    people, mart, report = (ids.asset_id(flow.tenant, name) for name in ("crm.people", "mart.people", "bi.report"))
    email = ids.asset_id(flow.tenant, "mart.people.email")
    derived = {"tag": "PII", "origin": people, "origin_name": "crm.people", "suppressed": False}
    names = ["crm.people", "mart.people"]
    assert items_of(flow, "bi.report") == [
        {
            **derived,
            "layer": "propagated",
            "path": [people, mart, report],
            "path_names": [*names, "bi.report"],
            "depth": 2,
        }
    ]
    assert items_of(flow, "mart.people.email") == [
        {
            **derived,
            "layer": "inherited",
            "path": [people, mart, email],
            "path_names": [*names, "mart.people.email"],
            "depth": 1,
        }
    ]
    with psycopg.connect(flow.stack.database) as connection:
        graph = stored_graph(connection, flow.tenant)
        pii = next(tag for tag in stored_definitions(connection, flow.tenant) if tag.key == "pii")
    for reference in ("bi.report", "mart.people", "mart.people.email"):
        for item in items_of(flow, reference):
            assert replay(item["path"], graph, pii) == []


def test_all_origins_are_named_when_asked_for(flow: Door) -> None:
    ingest_all(flow, table("erp.people", tags=["PII"]), table("old.people", tags=["PII"]))
    connect(flow, ("erp.people", "mart.people"), ("old.people", "erp.people"))
    propagate(flow)
    (item,) = items_of(flow, "bi.report", origins="true")
    expected = {ids.asset_id(flow.tenant, name) for name in ("crm.people", "erp.people", "old.people")}
    assert (set(item["origins"]), item["more"]) == (expected, False)
    (item,) = items_of(flow, "mart.people.email", origins="true")
    assert set(item["origins"]) == expected


def test_the_past_tells_only_what_was_stated(flow: Door) -> None:
    assert flow.read("bi.report")["tags"]["propagated"] == ["PII"]
    asked = {"as_of": clock.now()}
    deadline = time.monotonic() + 60
    while (told := flow.http.get("/metadata/bi.report", params=asked)).status_code == 503:
        assert time.monotonic() < deadline, "the lake has not caught up"
        time.sleep(0.2)
    assert (told.json()["tags"]["propagated"], told.json()["tags"]["effective"]) == ([], [])


def test_another_tenant_sees_nothing_of_it(flow: Door, other_door: Door) -> None:
    assert tags_of(flow, "bi.report")["propagated"] == ["PII"]
    other_door.ingest("bi.report", "dashboard")
    assert tags_of(other_door, "bi.report")["propagated"] == []
    assert found(other_door, tag="pii") == set()


def test_a_write_whose_propagation_is_parked_is_pending_until_it_has_followed(door: Door) -> None:
    """Parked by hand: the reaction has read the write's events, and has not handled them."""
    a, b = door.ingest("a"), door.ingest("b")
    door.change("POST", "/lineage", {"edges": [{"from": a, "to": b, "relationship_type": "used-in"}]})
    park = (
        "insert into parked_tenants (reaction, tenant_id, retry_at) "
        "values ('propagation', %s, clock_timestamp() + interval '1 hour')"
    )
    with psycopg.connect(door.stack.database, autocommit=True) as owner:
        owner.execute(park, [door.tenant])
        answer = door.http.post(f"/metadata/{a}/tags", json={"tag": "PII"}, headers={"Prefer": "wait=2"})
        assert answer.status_code == 202
        receipt = f"/propagations/{answer.headers['Lily-Receipt']}"
        assert door.http.get(receipt).json()["state"] == "pending"
        assert door.read("b")["tags"]["effective"] == []
        owner.execute("update parked_tenants set retry_at = now() where tenant_id = %s", [door.tenant])
        deadline = time.monotonic() + 30
        while door.http.get(receipt).json()["state"] == "pending":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert door.read("b")["tags"]["effective"] == ["PII"]
