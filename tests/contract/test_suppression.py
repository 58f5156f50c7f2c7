"""A person can say that a derived tag does not hold on one asset: with a reason, and never unseen."""

from typing import Any

import psycopg
import pytest

from lily.model import ids
from tests.contract.door import Door, codes, table
from tests.contract.flows import audit_of, connect, ingest_all, propagate


@pytest.fixture
def flow(door: Door) -> Door:
    """people (PII) → mart → report; mart has a column."""
    ingest_all(door, table("people", tags=["PII"]), table("mart"), table("report"))
    door.ingest("mart.email", "column", parent="mart")
    connect(door, ("people", "mart"), ("mart", "report"))
    propagate(door)
    return door


def item_of(door: Door, reference: str) -> dict[str, Any]:
    (item,) = door.http.get(f"/metadata/{reference}/tags").json()["items"]
    return dict(item)


def test_a_suppressed_tag_is_listed_and_neither_effective_nor_travels_on(flow: Door) -> None:
    flow.change("POST", "/metadata/mart/tags/pii/suppress", {"reason": "tokenised"})
    propagate(flow)
    mart = flow.read("mart")["tags"]
    assert (mart["propagated"], mart["effective"]) == (["PII"], [])
    assert flow.read("report")["tags"]["propagated"] == []
    assert flow.read("mart.email")["tags"]["inherited"] == []
    listed = flow.http.get("/metadata", params={"tag": "PII"}).json()["items"]
    assert [asset["attributes"]["name"] for asset in listed] == ["people"]
    item = item_of(flow, "mart")
    assert (item["suppressed"], item["origin"]) == (True, ids.asset_id(flow.tenant, "people"))
    about = item["suppression"]
    assert (about["by"], about["reason"], about["new_origins"]) == ("tester", "tokenised", [])
    assert about["at"] <= flow.read("mart")["updated_at"]


def test_a_suppression_is_undone(flow: Door) -> None:
    flow.change("POST", "/metadata/mart/tags/PII/suppress", {"reason": "tokenised"})
    with flow.limited("metadata:read", "metadata:write") as limited:
        limited.change("DELETE", "/metadata/mart/tags/PII/suppress")
    propagate(flow)
    assert flow.read("report")["tags"]["effective"] == ["PII"]
    assert item_of(flow, "mart")["suppressed"] is False
    answer = flow.http.delete("/metadata/mart/tags/PII/suppress")
    assert (answer.status_code, codes(answer)) == (404, {"NOT_FOUND"})


def test_a_suppression_remembers_the_origins_and_tells_of_new_ones(flow: Door) -> None:
    flow.change("POST", "/metadata/mart/tags/PII/suppress", {"reason": "tokenised"})
    people, newcomer = ids.asset_id(flow.tenant, "people"), ids.asset_id(flow.tenant, "newcomer")
    history = flow.http.get("/metadata/mart/history").json()["items"]
    assert history[0]["what"]["suppressed:pii"]["to"]["origins"] == [people]
    with psycopg.connect(flow.stack.database) as connection:
        connection.execute(
            "insert into new_origins (tenant_id, asset_id, tag, origin) values (%s, %s, 'pii', %s)",
            [flow.tenant, ids.asset_id(flow.tenant, "mart"), newcomer],
        )
    assert item_of(flow, "mart")["suppression"]["new_origins"] == [newcomer]


def test_an_inherited_tag_can_be_suppressed_too(flow: Door) -> None:
    flow.change("POST", "/metadata/mart.email/tags/PII/suppress", {"reason": "hashed"})
    tags = flow.read("mart.email")["tags"]
    assert (tags["inherited"], tags["effective"]) == (["PII"], [])


def test_only_what_is_derived_can_be_suppressed(flow: Door) -> None:
    for path in (
        "/metadata/people/tags/PII/suppress",
        "/metadata/mart/tags/GDPR/suppress",
        "/metadata/x/tags/y/suppress",
    ):
        answer = flow.http.post(path, json={"reason": "why not"})
        assert (answer.status_code, codes(answer)) == (404, {"NOT_FOUND"})


def test_a_reason_is_asked_for(flow: Door) -> None:
    for body in ({}, {"reason": ""}, {"reason": "  "}, {"reason": 5}, {"reason": "x", "by": "someone else"}):
        answer = flow.http.post("/metadata/mart/tags/PII/suppress", json=body)
        assert answer.status_code == 400, answer.text


def test_suppressing_needs_policy_write_and_leaves_a_trace(flow: Door) -> None:
    path, body = "/metadata/mart/tags/PII/suppress", {"reason": "tokenised"}
    with flow.limited("metadata:write") as weak:
        answer = weak.http.post(path, json=body)
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
    assert audit_of(flow) == []
    flow.change("POST", path, body)
    assert audit_of(flow) == [("tester", "tag.suppressed", ids.asset_id(flow.tenant, "mart"), ["pii"])]
