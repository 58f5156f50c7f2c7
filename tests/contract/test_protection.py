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


@pytest.mark.parametrize(("method", "path", "body"), LOSSES)
def test_a_loss_needs_policy_write(estate: Door, method: str, path: str, body: Any) -> None:
    before = estate.read("crm.people")["tags"]["effective"]
    with estate.limited("metadata:read", "metadata:write") as weak:
        answer = weak.http.request(method, path, json=body, headers=WAIT)
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"}), answer.text
    assert estate.read("crm.people")["tags"]["effective"] == before == ["GDPR", "PII", "raw"]
    assert audit_of(estate) == []
    with estate.limited("metadata:read", "metadata:write", "policy:write") as strong:
        assert strong.http.request(method, path, json=body, headers=WAIT).status_code == 200
    assert estate.read("crm.people")["tags"]["effective"] != before
    ((by, action, entity, tags),) = audit_of(estate)
    assert (by, action, entity) == ("limited", "tag.removed", estate.read("crm.people")["metadata_id"])
    assert tags in (["pii"], ["gdpr"])


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
    assert "PII" in estate.read("crm.people")["tags"]["effective"]


def test_a_row_in_bulk_is_refused_by_the_pipeline(estate: Door) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        answer = weak.http.post("/ingest-metadata/bulk", json=[people(tags=[]), table("other")], headers=WAIT)
        assert (answer.status_code, answer.json()["accepted"]) == (200, 2)
    assert "PII" in estate.read("crm.people")["tags"]["effective"]
    assert estate.read("other")["metadata_id"]
    (letter,) = estate.http.get("/dead-letters").json()["items"]
    assert [error["code"] for error in letter["errors"]] == ["PROTECTED"]
    assert "removing the protective tag PII requires the scope policy:write" in letter["errors"][0]["description"]


def test_a_tag_that_the_tenant_lets_propagate_is_protected_too(estate: Door) -> None:
    estate.change("POST", "/metadata/mart/tags", {"tag": "Secret"})
    with estate.limited("metadata:read", "metadata:write") as weak:
        estate.http.post("/tags", json={"name": "Secret", "propagates": True})
        answer = weak.http.delete("/metadata/mart/tags/secret")
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
        estate.http.put("/tags/secret", json={"propagates": False})
        assert weak.http.delete("/metadata/mart/tags/secret").status_code == 202


def test_deleting_is_guarded_where_deletion_cuts_and_others_derive_from_it(estate: Door) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        estate.http.put("/settings", json={"on_delete": "cut"})
        for reference in ("crm.people", "crm"):
            answer = weak.http.delete(f"/metadata/{reference}")
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
        answer = weak.http.post("/ingest-metadata", json=people() | {"operation": "delete"})
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
        weak.change("DELETE", "/metadata/mart")
        estate.http.put("/settings", json={"on_delete": "keep"})
        weak.change("DELETE", "/metadata/crm.people")


def test_a_caller_cannot_claim_to_be_authorised(estate: Door) -> None:
    with estate.limited("metadata:read", "metadata:write") as weak:
        answer = weak.http.post("/ingest-metadata", json=people(tags=[]) | {"authorised": True})
        assert (answer.status_code, codes(answer)) == (400, {"UNKNOWN_FIELD"})
