"""A tag that a policy names is protective, whether it is defined and propagates or not."""

import pytest

from tests.contract.access import check, create, effect, policy
from tests.contract.door import WAIT, Door, codes, table
from tests.contract.flows import audit_of, connect, ingest_all

WEAK = ("metadata:read", "metadata:write", "lineage:read")


@pytest.fixture
def estate(door: Door) -> Door:
    """hr (Confidential) above hr.pay; hr.pay shows other tags than its person's Confidential."""
    ingest_all(
        door,
        table("hr", "schema", tags=["Confidential"]),
        table("hr.pay", parent="hr", tags=["raw"]),
        table("hr.plan", tags=["raw"]),
    )
    door.change("POST", "/metadata/hr.plan/tags", {"tag": "Confidential"})
    return door


def named(door: Door) -> None:
    body = policy({"user": "mallory"}, {"tag": "CONFIDENTIAL"}, "deny", applies_to=["data"])
    create(door, "/policies", {"id": "p", **body})


def effective(door: Door, name: str) -> list[str]:
    return list(door.read(name)["tags"]["effective"])


def test_it_is_effective_in_any_layer_and_inherited_while_a_policy_names_it(estate: Door) -> None:
    assert effective(estate, "hr.plan") == effective(estate, "hr.pay") == ["raw"]
    named(estate)
    assert effective(estate, "hr.plan") == effective(estate, "hr.pay") == ["Confidential", "raw"]
    found = estate.http.get("/metadata", params={"tag": "confidential"}).json()["items"]
    assert {item["attributes"]["qualified_name"] for item in found} == {"hr", "hr.plan"}
    assert estate.http.delete("/policies/p").status_code == 200
    assert effective(estate, "hr.plan") == effective(estate, "hr.pay") == ["raw"]


def test_decisions_and_the_graph_count_it_the_same_way(estate: Door) -> None:
    create(estate, "/policies", {"id": "all", **policy({"user": "*"}, {"asset": "*"})})
    named(estate)
    assert [effect(estate, "mallory", name) for name in ("hr", "hr.pay", "hr.plan")] == ["deny"] * 3
    assert check(estate, "mallory", "hr.plan")["policy_id"] == "p"
    connect(estate, ("hr.plan", "hr.pay"))
    nodes = estate.http.get("/lineage/hr.plan").json()["nodes"]
    assert nodes[0]["tags"] == ["Confidential", "raw"]


def test_only_policy_write_takes_it_away(estate: Door) -> None:
    named(estate)
    with estate.limited(*WEAK) as weak:
        for method, path, body in (
            ("DELETE", "/metadata/hr.plan/tags/confidential", None),
            ("PUT", "/metadata/hr.plan", {"attributes": {"tags": []}}),
            ("POST", "/metadata/hr.pay/tags/confidential/suppress", {"reason": "no"}),
        ):
            answer = weak.http.request(method, path, json=body, headers=WAIT)
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"}), (path, answer.text)
        weak.change("PUT", "/metadata/hr.pay", {"attributes": {"parent": "open"}})
        weak.change("POST", "/ingest-metadata", table("hr", "schema", tags=[]))
    assert effective(estate, "hr.plan") == effective(estate, "hr.pay") == ["Confidential", "raw"]
    with estate.limited(*WEAK, "policy:write", user="strong") as strong:
        strong.change("DELETE", "/metadata/hr.plan/tags/confidential")
    assert effective(estate, "hr.plan") == ["raw"]
    assert ("strong", "tag.removed", estate.read("hr.plan")["metadata_id"], ["confidential"]) in audit_of(estate)


def test_a_row_in_bulk_without_it_is_accepted_and_leaves_it_in_effect(estate: Door) -> None:
    named(estate)
    with estate.limited(*WEAK) as weak:
        answer = weak.http.post("/ingest-metadata/bulk", json=[table("hr", "schema", tags=[])], headers=WAIT)
        assert (answer.status_code, answer.json()["accepted"]) == (200, 1)
    assert estate.read("hr")["attributes"]["tags"] == []
    assert effective(estate, "hr") == ["Confidential"]
    assert estate.http.get("/dead-letters").json()["items"] == []


def test_a_policy_for_any_tag_names_none(estate: Door) -> None:
    create(estate, "/policies", policy({"user": "mallory"}, {"tag": "*"}, "deny", applies_to=["data"]))
    assert effective(estate, "hr.plan") == ["raw"]
