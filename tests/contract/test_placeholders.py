"""What only edges have named, as it is read: by id, by name and in the graph."""

from typing import Any

import pytest

from lily.model import ids
from tests.contract.access import create, policy
from tests.contract.door import Door, names
from tests.contract.test_lineage import delete, edge, graph, post
from tests.extra_api import until

READ = ("metadata:read", "lineage:read")
DATASET_EVENT = {
    "eventTime": "2026-01-01T00:00:00Z",
    "producer": "https://producer.example",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
}


def status(door: Door, reference: str) -> int:
    by_id = door.http.get(f"/metadata/{ids.resolve(door.tenant, reference)}").status_code
    assert door.http.get("/metadata/by-name", params={"qualified_name": reference}).status_code == by_id
    assert door.http.get(f"/metadata/{reference}").status_code == by_id
    return by_id


def deny(door: Door, resource: dict[str, Any]) -> None:
    create(door, "/policies", policy({"user": "bob"}, resource, "deny", applies_to=["metadata"]))


def test_an_end_that_only_an_edge_has_named_is_a_placeholder(door: Door) -> None:
    door.ingest("shop.orders")
    post(door, edge("shop.orders", "mart.sales"))
    assert status(door, "mart.sales") == 200
    found = door.read("mart.sales")
    assert found["placeholder"] is True
    assert found["metadata_id"] == ids.asset_id(door.tenant, "mart.sales")
    assert found["attributes"]["qualified_name"] == "mart.sales"
    assert (found["entity_type"], found["version"], found["is_deleted"]) == ("", 0, False)
    asset = door.read("shop.orders")
    assert "placeholder" not in asset
    assert asset.keys() == found.keys() - {"placeholder"}


def test_what_nobody_has_named_is_not_found(door: Door) -> None:
    post(door, edge("a", ids.asset_id(door.tenant, "b")))
    assert (status(door, "a"), status(door, "b"), status(door, "c")) == (200, 404, 404)
    assert [node["qualified_name"] for node in graph(door, "a")["nodes"]] == ["a", None]


def test_a_placeholder_goes_with_the_last_edge(door: Door) -> None:
    post(door, edge("a", "b"), edge("b", "c"))
    delete(door, edge("a", "b"))
    assert (status(door, "a"), status(door, "b")) == (404, 200)
    post(door, edge("a", "b"))
    assert status(door, "a") == 200


def test_the_asset_replaces_the_placeholder(door: Door) -> None:
    post(door, edge("a", "b"))
    door.ingest("b", "view", description="stated")
    found = door.read("b")
    assert (found["entity_type"], found["attributes"]["description"]) == ("view", "stated")
    assert "placeholder" not in found
    assert [node["known"] for node in graph(door, "a")["nodes"]] == [False, True]


def test_a_placeholder_is_in_no_list_and_cannot_be_changed(door: Door) -> None:
    door.ingest("a")
    post(door, edge("a", "mart.sales"))
    assert names(door.http.get("/metadata").json()["items"]) == ["a"]
    assert door.http.get("/metadata", params={"q": "sales"}).json()["items"] == []
    assert door.http.post("/metadata/batch-get", json={"ids": ["mart.sales"]}).json()["missing"] == ["mart.sales"]
    assert door.http.put("/metadata/mart.sales", json={"attributes": {"owner": "me"}}).status_code == 404
    assert door.http.delete("/metadata/mart.sales").status_code == 404


def test_what_sql_names_is_a_placeholder_with_the_tags_that_reach_it(door: Door) -> None:
    door.ingest("raw.people")
    door.ingest("raw.people.email", "column", parent="raw.people", tags=["PII"])
    view = "create view mart.contacts as select email as contact from raw.people"
    for script in (view, "insert into mart.log (email) select email from raw.people"):
        door.change("POST", "/lineage/sql", {"sql": script, "dialect": "postgres"})
    for name in ("mart.contacts", "mart.contacts.contact", "mart.log", "mart.log.email"):
        assert status(door, name) == 200
    assert door.read("mart.contacts.contact")["tags"]["effective"] == ["PII"]
    nodes = {node["qualified_name"]: node for node in graph(door, "raw.people.email")["nodes"]}
    assert nodes["mart.contacts.contact"]["tags"] == ["PII"]
    assert nodes["mart.contacts.contact"]["known"] is False


@pytest.mark.parametrize(
    "resource", [{"asset": "vault"}, {"asset": "vault.orders"}, {"asset": "vault.orders.iban"}, {"tag": "PII"}]
)
def test_a_policy_denies_a_placeholder_as_it_would_the_asset(door: Door, resource: dict[str, Any]) -> None:
    door.ingest("vault", "schema")
    door.ingest("open.orders", tags=["PII"])
    post(door, edge("open.orders", "vault.orders.iban"), edge("plain", "open.copy"))
    with door.limited(*READ, user="bob") as bob:
        assert status(bob, "vault.orders.iban") == 200
        deny(door, resource)
        assert status(bob, "vault.orders.iban") == 403
        # Until the lake has reported that it does not have the ends, tags count that may arrive from them.
        until(lambda: bob.http.get("/metadata/open.copy").status_code == 200, 60)
        assert status(bob, "open.copy") == 200
        assert status(door, "vault.orders.iban") == 200


def test_the_graph_redacts_a_placeholder_that_a_policy_denies(door: Door) -> None:
    door.ingest("vault", "schema")
    post(door, edge("open.orders", "vault.orders.iban"))
    deny(door, {"asset": "vault"})
    with door.limited(*READ, user="bob") as bob:
        (start, hidden) = graph(bob, "open.orders")["nodes"]
        assert (start["qualified_name"], hidden["qualified_name"], hidden["redacted"]) == ("open.orders", None, True)
        (found,) = graph(bob, "open.orders")["edges"]
        assert (found["from_name"], found["to_name"]) == ("open.orders", None)


def test_another_tenants_placeholders_are_invisible(door: Door, other_door: Door) -> None:
    post(door, edge("a", "b"))
    assert other_door.http.get(f"/metadata/{ids.asset_id(door.tenant, 'a')}").status_code == 404
    assert status(other_door, "a") == 404


def test_a_placeholder_below_what_is_denied_cannot_be_stated_into_the_open(door: Door) -> None:
    post(door, edge("hr.public.grades", "mart.sales"))
    denial = policy({"user": "bob"}, {"asset": "hr"}, "deny", actions=["READ", "WRITE"], applies_to=["metadata"])
    create(door, "/policies", denial)
    with door.limited("metadata:read", "metadata:write", "lineage:write", user="bob") as bob:
        stated = {"entity_type": "table", "attributes": {"qualified_name": "hr.public.grades", "name": "grades"}}
        assert bob.http.post("/ingest-metadata", json=stated).status_code == 403
        dataset = {"namespace": "postgres://db", "name": "hr.public.grades"}
        event = {**DATASET_EVENT, "dataset": dataset}
        assert bob.http.post("/api/v1/lineage", json=event).status_code == 403
        assert status(bob, "hr.public.grades") == 403
    assert door.read("hr.public.grades")["placeholder"] is True
