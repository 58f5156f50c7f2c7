"""Rules by which attributes travel, through the whole stack: decided at the door, stated by the pipeline, explained."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import psycopg

from lily.model import ids
from tests.contract.door import WAIT, Door, codes
from tests.contract.flows import audit_of, ingest_all
from tests.contract.test_tag_definitions import decisions_of

OWNERS = {"name": "Owners", "attribute": "owner", "mode": "set-if-empty"}
TERMS = {"name": "terms", "attribute": "business_terms", "mode": "add"}
REST = {"direction": "downstream", "max_depth": None, "edge_types": None}
_PATIENCE = 30


def until(look: Callable[[], Any], expected: Any) -> None:
    """What rules state takes the way of every other statement, so it can be read a moment later."""
    deadline = time.monotonic() + _PATIENCE
    while (found := look()) != expected and time.monotonic() < deadline:
        time.sleep(0.1)
    assert found == expected


def attribute_of(door: Door, name: str, attribute: str = "owner") -> Callable[[], Any]:
    return lambda: door.read(name)["attributes"][attribute]


def chain(door: Door, *names: str) -> None:
    edges = [{"from": start, "to": end, "relationship_type": "derived-from"} for start, end in pairwise(names)]
    answer = door.http.post("/lineage", json={"edges": edges}, headers=WAIT)
    assert answer.status_code == 200, answer.text


def table(name: str, **attributes: Any) -> dict[str, Any]:
    return {"entity_type": "table", "attributes": {"name": name, "qualified_name": name, **attributes}}


def test_an_owner_travels_explains_itself_yields_to_a_person_and_goes(door: Door, other_door: Door) -> None:
    ingest_all(door, table("raw", owner="ada", business_terms=["money"]), table("mart", business_terms=["art"]))
    ingest_all(door, table("report"))
    chain(door, "raw", "mart", "report")
    for rule in (OWNERS, TERMS):
        made = door.http.post("/propagation-rules", json=rule, headers=WAIT)
        assert (made.status_code, made.json()) == (201, rule | REST), made.text
    until(attribute_of(door, "report"), "ada")
    until(attribute_of(door, "mart", "business_terms"), ["art", "money"])
    until(attribute_of(door, "report", "business_terms"), ["art", "money"])

    path = [ids.asset_id(door.tenant, name) for name in ("raw", "mart", "report")]
    told = door.http.get("/metadata/report/attributes").json()["items"]
    about = {"rule": "terms", "mode": "add", "attribute": "business_terms"}
    assert told == [
        about | {"value": "art", "origin": path[1], "path": path[1:], "depth": 1},
        about | {"value": "money", "origin": path[0], "path": path, "depth": 2},
        {
            "attribute": "owner",
            "value": "ada",
            "rule": "Owners",
            "mode": "set-if-empty",
            "origin": path[0],
            "path": path,
            "depth": 2,
        },
    ]
    history = door.http.get("/metadata/report/history").json()["items"]
    enriched = [change for change in history if change["layer"] == "enriched"]
    assert {cause["by"] for change in enriched for cause in change["causes"]} == {"rule:Owners", "rule:terms"}

    door.change("PUT", "/metadata/mart", {"attributes": {"owner": "bob"}})
    until(attribute_of(door, "report"), "bob")
    assert attribute_of(door, "mart")() == "bob"
    door.change("PUT", "/metadata/mart", {"attributes": {"owner": None}})
    ingest_all(door, table("raw", owner=None, business_terms=None))
    until(attribute_of(door, "report"), None)
    until(attribute_of(door, "mart", "business_terms"), ["art"])
    assert [item["value"] for item in door.http.get("/metadata/report/attributes").json()["items"]] == ["art"]
    assert other_door.http.get("/metadata/report/attributes").status_code == 404
    assert other_door.http.get("/propagation-rules").json() == {"items": [], "next_cursor": None}
    with psycopg.connect(door.stack.database) as connection:
        refused = connection.execute("select errors from dead_letters where tenant_id = %s", [door.tenant]).fetchall()
    assert refused == []


def test_an_asset_that_comes_after_its_edges_is_told_and_a_rule_that_goes_is_undone(door: Door) -> None:
    door.http.post("/propagation-rules", json={"name": "cost", "attribute": "cost_centre", "mode": "override"})
    ingest_all(door, table("raw", cost_centre={"unit": 7}))
    chain(door, "raw", "later")
    ingest_all(door, table("later", cost_centre="other"))
    until(attribute_of(door, "later", "cost_centre"), {"unit": 7})
    assert door.http.delete("/propagation-rules/COST").json() == {"status": "success", "name": "cost"}
    until(attribute_of(door, "later", "cost_centre"), "other")
    assert door.http.get("/metadata/later/attributes").json()["items"] == []


def test_a_column_that_only_the_lake_has_is_told_and_keeps_what_it_had(door: Door) -> None:
    column = table("mart.phone", parent="mart", description="as dialled") | {"entity_type": "column"}
    ingest_all(door, table("raw", owner="ada"), column)
    chain(door, "raw", "mart.phone")
    assert door.http.post("/propagation-rules", json=OWNERS).status_code == 201
    until(attribute_of(door, "mart.phone"), "ada")
    phone = door.read("mart.phone")
    assert (phone["entity_type"], phone["attributes"]["description"]) == ("column", "as dialled")


def test_a_rule_is_made_changed_and_taken_away_and_each_leaves_a_trace(door: Door) -> None:
    assert door.http.post("/propagation-rules", json=OWNERS).status_code == 201
    again = door.http.post("/propagation-rules", json=OWNERS | {"name": "owNERS", "attribute": "steward"})
    assert (again.status_code, codes(again)) == (409, {"EXISTS"})
    second = door.http.post("/propagation-rules", json=OWNERS | {"name": "other"})
    assert (second.status_code, codes(second)) == (409, {"ATTRIBUTE_HAS_RULE"})
    assert door.http.post("/propagation-rules", json=TERMS | {"edge_types": ["Used-In"]}).status_code == 201
    changed = door.http.put("/propagation-rules/owners", json={"mode": "override", "max_depth": 2})
    assert changed.json() == OWNERS | REST | {"mode": "override", "max_depth": 2}
    assert changed.json() == door.http.get("/propagation-rules/OWNERS").json()
    page = door.http.get("/propagation-rules", params={"limit": 1}).json()
    assert page["items"] == [changed.json()]
    more = door.http.get("/propagation-rules", params={"cursor": page["next_cursor"]}).json()
    assert more == {"items": [TERMS | REST | {"edge_types": ["used-in"]}], "next_cursor": None}
    assert door.http.delete("/propagation-rules/terms").status_code == 200
    assert door.http.delete("/propagation-rules/terms").status_code == 404
    told = decisions_of(door)
    assert [(kind, name) for kind, name, *_ in told] == [
        ("rule", name) for name in ("owners", "terms", "owners", "terms")
    ]
    assert (told[2][2], told[2][3]) == (OWNERS | REST, changed.json())
    assert [row[1] for row in audit_of(door)] == ["rule.defined", "rule.defined", "rule.redefined", "rule.deleted"]


def test_what_no_rule_can_be_is_refused(door: Door) -> None:
    assert door.http.post("/propagation-rules", json=OWNERS).status_code == 201
    bad: list[tuple[str, str, Any]] = [
        ("POST", "/propagation-rules", body)
        for body in (
            {},
            {"name": "x", "attribute": "owner"},
            {"name": "x", "attribute": "owner", "mode": "replace"},
            {"name": "x", "attribute": "owner", "mode": "add"},
            {"name": "", "attribute": "steward", "mode": "override"},
            {"name": "x", "attribute": "", "mode": "override"},
            {"name": "x", "attribute": "a,b", "mode": "override"},
            {"name": "x", "attribute": "$type", "mode": "override"},
            {"name": "x", "attribute": "steward", "mode": "override", "max_depth": 0},
            {"name": "x", "attribute": "steward", "mode": "override", "edge_types": []},
            {"name": "x", "attribute": "steward", "mode": "override", "colour": "red"},
        )
    ]
    bad += [("PUT", "/propagation-rules/owners", body) for body in ({}, {"mode": "add"}, {"attribute": "steward"})]
    for method, path, body in bad:
        answer = door.http.request(method, path, json=body)
        assert answer.status_code == 400, (body, answer.text)
        assert codes(answer)
    for attribute in ("tags", "name", "qualified_name", "parent", "created_by", "data_source"):
        answer = door.http.post("/propagation-rules", json={"name": "x", "attribute": attribute, "mode": "override"})
        assert (answer.status_code, codes(answer)) == (400, {"NOT_DERIVABLE"})


def test_deciding_needs_policy_write_and_reading_policy_or_metadata_read(door: Door) -> None:
    with door.limited("metadata:read", "metadata:write", "policy:read") as limited:
        for answer in (
            limited.http.post("/propagation-rules", json=OWNERS),
            limited.http.put("/propagation-rules/owners", json={"mode": "override"}),
            limited.http.delete("/propagation-rules/owners"),
        ):
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
    for scope, status in (("metadata:read", 200), ("policy:read", 200), ("lineage:read", 403)):
        with door.limited(scope) as reader:
            assert reader.http.get("/propagation-rules").status_code == status
