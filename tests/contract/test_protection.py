"""Nobody takes a protective tag away without `policy:write`, by whatever means, and nobody does so unseen."""

from typing import Any

import pytest

from tests.contract.door import WAIT, Door, codes, table
from tests.contract.flows import audit_of, connect, ingest_all, propagate


def people(**attributes: Any) -> dict[str, Any]:
    return table("crm.people", **({"parent": "crm"} | attributes))


@pytest.fixture
def estate(door: Door) -> Door:
    """crm (GDPR) above crm.people (PII in its source), from which mart derives; open has no tags."""
    ingest_all(
        door,
        table("crm", "schema", tags=["GDPR"]),
        table("open", "schema"),
        people(tags=["PII", "raw"]),
        table("mart"),
    )
    connect(door, ("crm.people", "mart"))
    propagate(door)
    return door


LOSSES: list[tuple[str, str, Any]] = [
    ("POST", "/ingest-metadata", people(tags=["raw"])),
    ("POST", "/ingest-metadata", people(tags=[])),
    ("POST", "/ingest-metadata", people(tags=None)),
    ("POST", "/ingest-metadata", people(parent="open")),
    ("POST", "/ingest-metadata", people(parent=None)),
    ("PUT", "/metadata/crm.people", {"attributes": {"parent": "open"}}),
]


def protective(door: Door, reference: str) -> set[str]:
    return set(door.read(reference)["tags"]["effective"]) & {"PII", "GDPR"}


@pytest.mark.parametrize(("method", "path", "body"), LOSSES)
def test_what_leaves_a_protective_tag_out_is_accepted_and_ends_it_only_with_policy_write(
    estate: Door, method: str, path: str, body: Any
) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        answer = weak.http.request(method, path, json=body, headers=WAIT)
        assert answer.status_code == 200, answer.text
    propagate(estate)
    shown = estate.read("crm.people")["attributes"]
    assert [shown["parent"], shown["tags"]] != ["crm", ["PII", "raw"]], "it is no longer shown"
    assert protective(estate, "crm.people") == protective(estate, "mart") == {"GDPR", "PII"}
    assert audit_of(estate) == []
    with estate.limited("metadata:read", "metadata:write", "policy:write") as strong:
        assert strong.http.request(method, path, json=body, headers=WAIT).status_code == 200
    propagate(estate)
    assert len(protective(estate, "crm.people")) == len(protective(estate, "mart")) == 1
    ((by, action, entity, tags),) = audit_of(estate)
    assert (by, action, entity) == ("limited", "tag.removed", estate.read("crm.people")["metadata_id"])
    assert tags in (["pii"], ["gdpr"])


def test_what_is_held_is_explained(estate: Door) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        weak.change("POST", "/ingest-metadata", people(tags=["raw"], parent="open"))
    items = {item["tag"]: item for item in estate.http.get("/metadata/crm.people/tags").json()["items"]}
    own, inherited = items["PII"], items["GDPR"]
    assert (own["layer"], own["held"], own["ended"]["by"]) == ("source", True, "limited")
    assert own["ended"]["at"] == estate.read("crm.people")["updated_at"]
    assert (inherited["layer"], inherited["held"]) == ("inherited", True)
    assert inherited["path"] == [estate.read(name)["metadata_id"] for name in ("crm", "crm.people")]
    assert "held" not in items["raw"]


def test_a_person_removes_a_protective_tag_only_with_policy_write(estate: Door) -> None:
    estate.change("PUT", "/metadata/mart", {"attributes": {"tags": ["PII", "mine"]}})
    removals: list[tuple[str, str, Any]] = [
        ("DELETE", "/metadata/mart/tags/pii", None),
        ("PUT", "/metadata/mart", {"attributes": {"tags": []}}),
        ("PUT", "/metadata/mart", {"attributes": {"tags": None}}),
        ("PUT", "/metadata/mart", {"attributes": {"tags": ["mine"]}}),
        ("POST", "/metadata/mart/tags/gdpr/suppress", {"reason": "because"}),
    ]
    with estate.limited("metadata:read", "metadata:write") as weak:
        for method, path, body in removals:
            answer = weak.http.request(method, path, json=body, headers=WAIT)
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"}), path
        weak.change("PUT", "/metadata/mart", {"attributes": {"tags": ["pii"]}})
    estate.change("DELETE", "/metadata/mart/tags/pii")
    assert audit_of(estate)[-1][1:] == ("tag.removed", estate.read("mart")["metadata_id"], ["pii"])


@pytest.mark.parametrize(
    "attributes",
    [{}, {"tags": ["pii"]}, {"tags": ["PII", "new"]}, {"owner": "someone"}, {"tags": ["PII"], "owner": None}],
)
def test_what_loses_nothing_needs_nothing(estate: Door, attributes: dict[str, Any]) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        weak.change("POST", "/ingest-metadata", people(**attributes))
    assert {"PII", "GDPR"} <= {tag.upper() for tag in estate.read("crm.people")["tags"]["effective"]}
    assert audit_of(estate) == []


def test_an_older_statement_takes_nothing_away(estate: Door) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        weak.change("POST", "/ingest-metadata", people(tags=[]) | {"time": "2020-01-01T00:00:00Z"})
    assert "PII" in estate.read("crm.people")["attributes"]["tags"]


def test_a_row_in_bulk_is_accepted_and_the_tag_is_held(estate: Door) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        answer = weak.http.post("/ingest-metadata/bulk", json=[people(tags=[]), table("other")], headers=WAIT)
        assert (answer.status_code, answer.json()["accepted"]) == (200, 2)
    assert estate.read("crm.people")["attributes"]["tags"] == []
    assert protective(estate, "crm.people") == {"GDPR", "PII"}
    assert estate.http.get("/dead-letters").json()["items"] == []


def test_a_tag_that_the_tenant_lets_propagate_is_protected_too(estate: Door) -> None:
    estate.change("POST", "/metadata/mart/tags", {"tag": "Secret"})
    with estate.limited("metadata:read", "metadata:write") as weak:
        estate.http.post("/tags", json={"name": "Secret", "propagates": True})
        answer = weak.http.delete("/metadata/mart/tags/secret")
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
        estate.http.put("/tags/secret", json={"propagates": False})
        assert weak.http.delete("/metadata/mart/tags/secret").status_code == 202


def test_a_deletion_cuts_only_with_policy_write(estate: Door) -> None:
    estate.http.put("/settings", json={"on_delete": "cut"})
    with estate.limited("metadata:read", "metadata:write") as weak:
        weak.change("DELETE", "/metadata/crm.people")
    propagate(estate)
    assert protective(estate, "mart") == {"GDPR", "PII"}
    estate.change("DELETE", "/metadata/crm.people")
    propagate(estate)
    assert protective(estate, "mart") == set()
    assert audit_of(estate)[-1][1] == "tag.removed"


def test_a_caller_cannot_claim_to_be_authorised(estate: Door) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        answer = weak.http.post("/ingest-metadata", json=people(tags=[]) | {"authorised": True})
        assert (answer.status_code, codes(answer)) == (400, {"UNKNOWN_FIELD"})
