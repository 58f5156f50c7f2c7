"""What an incident puts at risk: where it is shown, how it is found, explained and announced."""

import time
import uuid
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from lily.client import Lily
from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door, codes, names, table
from tests.contract.flows import connect, ingest_all, propagate
from tests.contract.incidents import found as incidents
from tests.contract.incidents import put_secret, report
from tests.contract.test_notifications import listen, next_message
from tests.monte_carlo import anomaly


@pytest.fixture
def flow(door: Door) -> Door:
    """raw above raw.orders → mart.orders → bi.sales, which has a tile below it."""
    ingest_all(
        door,
        table("raw", "schema"),
        table("raw.orders", parent="raw"),
        table("mart.orders"),
        table("bi.sales", "dashboard"),
        table("bi.sales.tile", "chart", parent="bi.sales"),
    )
    edges = [("raw.orders", "mart.orders"), ("mart.orders", "bi.sales")]
    body = [{"from": start, "to": end, "relationship_type": "derived-from"} for start, end in edges]
    assert door.http.post("/lineage", json={"edges": body}, headers=WAIT).status_code == 200
    put_secret(door)
    return door


def incident(door: Door, asset: str) -> str:
    """The id of a new incident of the asset, as Monte Carlo reports it."""
    report(door, anomaly(asset, incident=asset))
    return str(incidents(door, asset=asset)[0]["incident_id"])


def resolve(door: Door, incident_id: str) -> None:
    assert door.http.post(f"/incidents/{incident_id}/resolve").status_code in {200, 202}


def eventually(look: Callable[[], Any], expected: Any) -> None:
    deadline = time.monotonic() + 60
    while (found := look()) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def risks(door: Door, reference: str) -> list[str]:
    return list(door.read(reference)["at_risk"])


def test_what_is_downstream_is_at_risk_on_every_representation_until_the_incident_is_resolved(flow: Door) -> None:
    found = incident(flow, "raw")
    eventually(lambda: risks(flow, "bi.sales"), [found])
    second = incident(flow, "mart.orders")
    both = sorted([found, second])
    eventually(lambda: risks(flow, "bi.sales.tile"), both)
    assert risks(flow, "raw.orders") == [found]
    dashboard = flow.read("bi.sales")
    assert flow.read(dashboard["metadata_id"]) == dashboard
    by_name = flow.http.get("/metadata/by-name", params={"qualified_name": "bi.sales"})
    assert by_name.json() == dashboard
    assert flow.http.post("/metadata/batch-get", json={"ids": ["bi.sales"]}).json()["items"] == [dashboard]
    assert dashboard in flow.http.get("/metadata", params={"entity_type": "dashboard"}).json()["items"]
    nodes = flow.http.get("/lineage/raw.orders").json()["nodes"]
    assert {node["qualified_name"]: node["at_risk"] for node in nodes} == {
        "raw.orders": [found],
        "mart.orders": both,
        "bi.sales": both,
    }
    with closing(Lily(flow.stack.url, token=flow.token)) as lily:
        assert lily.get("bi.sales").at_risk == both
        assert {asset.qualified_name for asset in lily.find(at_risk=True)} == {"raw", "mart.orders", "bi.sales"}
    resolve(flow, found)
    eventually(lambda: risks(flow, "bi.sales"), [second])
    assert risks(flow, "raw.orders") == []
    resolve(flow, second)
    eventually(lambda: risks(flow, "bi.sales.tile"), [])


def test_a_list_of_what_is_at_risk_has_columns_that_only_the_lake_has(flow: Door) -> None:
    row = table("mart.orders.total", "column", parent="mart.orders")
    assert flow.http.post("/ingest-metadata/bulk", json=[row], headers=WAIT).status_code == 200
    connect(flow, ("raw.orders", "mart.orders.total"))
    propagate(flow)
    found = incident(flow, "raw.orders")
    eventually(lambda: risks(flow, "mart.orders.total"), [found])
    expected = {"raw.orders", "mart.orders", "mart.orders.total", "bi.sales"}
    listed = flow.http.get("/metadata", params={"at_risk": "true"}).json()["items"]
    assert set(names(listed)) == expected
    assert {tuple(item["at_risk"]) for item in listed} == {(found,)}
    only = flow.http.get("/metadata", params={"at_risk": "true", "entity_type": "column"}).json()["items"]
    assert names(only) == ["mart.orders.total"]
    pages: list[str] = []
    asked: dict[str, Any] = {"at_risk": "true", "limit": 1}
    while asked.get("cursor", "") is not None:
        page = flow.http.get("/metadata", params=asked).json()
        pages += names(page["items"])
        asked["cursor"] = page["next_cursor"]
    assert sorted(pages) == sorted(expected)


def test_an_incident_lists_what_it_puts_at_risk_with_the_path(flow: Door) -> None:
    found = incident(flow, "raw")
    eventually(lambda: risks(flow, "bi.sales"), [found])
    where = f"/incidents/{found}/at-risk"
    ids = {name: flow.read(name)["metadata_id"] for name in ("raw", "raw.orders", "mart.orders", "bi.sales")}
    items = {item["qualified_name"]: item for item in flow.http.get(where).json()["items"]}
    assert {name: item["via"] for name, item in items.items()} == {
        "raw": None,
        "mart.orders": ids["raw.orders"],
        "bi.sales": ids["mart.orders"],
    }
    assert items["bi.sales"]["path"] == [ids["raw"], ids["raw.orders"], ids["mart.orders"], ids["bi.sales"]]
    first = flow.http.get(where, params={"limit": 2}).json()
    rest = flow.http.get(where, params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert (len(first["items"]), rest["next_cursor"]) == (2, None)
    assert {item["qualified_name"] for item in first["items"] + rest["items"]} == set(items)
    create(flow, "/policies", policy({"user": "excluded"}, {"asset": "bi.sales"}, "deny", actions=["READ"]))
    with flow.limited("incidents:read", user="excluded") as excluded:
        shown = excluded.http.get(where).json()["items"]
        assert {item["qualified_name"] for item in shown} == {"raw", "mart.orders"}


def test_an_incident_of_another_tenant_or_none_is_404(flow: Door, other_door: Door) -> None:
    found = incident(flow, "raw")
    for door, reference in ((other_door, found), (flow, str(uuid.uuid4())), (flow, "no-incident")):
        answer = door.http.get(f"/incidents/{reference}/at-risk")
        assert (answer.status_code, codes(answer)) == (404, {"NOT_FOUND"})


def test_listeners_are_alerted_when_an_asset_comes_under_risk_and_when_it_is_clear(flow: Door) -> None:
    with listen(flow, change="at_risk", metadata_id="bi.sales") as socket, listen(flow, change="clear") as cleared:
        found = incident(flow, "mart.orders")
        message = next_message(socket)
        assert (message["type"], message["change"], message["qualified_name"]) == ("alert", "at_risk", "bi.sales")
        assert (message["incident_id"], message["state"]) == (found, "open")
        assert message["severity"] in {"info", "warning", "critical"}
        resolve(flow, found)
        clear = [next_message(cleared) for _ in range(2)]
        assert {message["qualified_name"] for message in clear} == {"mart.orders", "bi.sales"}
        assert {message["state"] for message in clear} == {"resolved"}


def test_an_edge_that_is_drawn_or_deleted_changes_what_is_at_risk(flow: Door) -> None:
    found = incident(flow, "raw.orders")
    eventually(lambda: risks(flow, "bi.sales"), [found])
    edge = {"from": "raw.orders", "to": "mart.orders", "relationship_type": "derived-from"}
    assert flow.http.request("DELETE", "/lineage", json={"edges": [edge]}).status_code == 202
    eventually(lambda: risks(flow, "bi.sales"), [])
    other = {"from": "raw", "to": "bi.sales", "relationship_type": "used-in"}
    flow.http.post("/lineage", json={"edges": [edge, other]})
    eventually(lambda: risks(flow, "bi.sales.tile"), [found])
