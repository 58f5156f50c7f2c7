"""What a tenant decides about tags: their definitions, and what deletion means."""

from typing import Any

import psycopg
import pytest

from tests.contract.door import Door, codes
from tests.contract.flows import audit_of, connect, propagate

PII = {
    "name": "PII",
    "propagates": True,
    "direction": "downstream",
    "max_depth": None,
    "edge_types": None,
    "stopped_by_masking": True,
}


def decisions_of(door: Door) -> list[tuple[Any, ...]]:
    asked = "select kind, name, before, after, by from decisions where tenant_id = %s order by position"
    with psycopg.connect(door.stack.database) as connection:
        return connection.execute(asked, [door.tenant]).fetchall()


def test_every_tenant_has_the_two_legal_tags(door: Door) -> None:
    listed = door.http.get("/tags").json()
    assert listed["items"] == [PII | {"name": "GDPR", "stopped_by_masking": False}, PII]
    assert listed["next_cursor"] is None
    assert door.http.get("/tags/pii").json() == PII


def test_a_tag_is_defined_changed_and_taken_away_and_each_leaves_a_trace(door: Door) -> None:
    body = {"name": "Secret/Top", "propagates": True, "max_depth": 2, "edge_types": ["Used-In"]}
    made = door.http.post("/tags", json=body)
    assert made.status_code == 201, made.text
    defined = body | {"direction": "downstream", "edge_types": ["used-in"], "stopped_by_masking": False}
    assert made.json() == defined == door.http.get("/tags/SECRET%2Ftop").json()
    again = door.http.post("/tags", json=body | {"name": "secret/TOP"})
    assert (again.status_code, codes(again)) == (409, {"EXISTS"})
    changed = door.http.put("/tags/secret/top", json={"direction": "both", "edge_types": None})
    assert changed.json() == defined | {"direction": "both", "edge_types": None}
    assert door.http.put("/tags/secret/top", json={"direction": "both"}).status_code == 200  # nothing new: no decision
    assert door.http.delete("/tags/Secret/Top").json() == {"status": "success", "name": "Secret/Top"}
    assert door.http.get("/tags/secret/top").status_code == 404
    told = decisions_of(door)
    assert [(kind, name, by) for kind, name, _, _, by in told] == [("tag", "secret/top", "tester")] * 3
    befores, afters = [row[2] for row in told], [row[3] for row in told]
    assert befores == [None, defined, changed.json()]
    assert afters == [defined, changed.json(), None]
    assert [row[1] for row in audit_of(door)] == ["tag.defined", "tag.redefined", "tag.deleted"]


def test_the_legal_tags_cannot_be_taken_away(door: Door) -> None:
    for answer in (
        door.http.delete("/tags/Pii"),
        door.http.delete("/tags/GDPR"),
        door.http.put("/tags/gdpr", json={"propagates": False, "max_depth": 1}),
    ):
        assert (answer.status_code, codes(answer)) == (409, {"PROTECTED"})
    assert door.http.put("/tags/pii", json={"stopped_by_masking": False}).json() == PII | {"stopped_by_masking": False}


def test_definitions_are_paged(door: Door) -> None:
    for name in ("a", "b", "z"):
        assert door.http.post("/tags", json={"name": name}).status_code == 201
    seen: list[str] = []
    asked: dict[str, Any] = {"limit": 2}
    while asked.get("cursor", "") is not None:
        page = door.http.get("/tags", params=asked).json()
        seen += [item["name"] for item in page["items"]]
        asked["cursor"] = page["next_cursor"]
    assert seen == ["a", "b", "GDPR", "PII", "z"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/tags", {}),
        ("POST", "/tags", {"name": ""}),
        ("POST", "/tags", {"name": "a\x00b"}),
        ("POST", "/tags", {"name": "x" * 200}),
        ("POST", "/tags", {"name": "x", "direction": "sideways"}),
        ("POST", "/tags", {"name": "x", "max_depth": 0}),
        ("POST", "/tags", {"name": "x", "edge_types": []}),
        ("POST", "/tags", {"name": "x", "edge_types": [""]}),
        ("POST", "/tags", {"name": "x", "colour": "red"}),
        ("PUT", "/tags/pii", {}),
        ("PUT", "/tags/pii", {"name": "other"}),
        ("PUT", "/tags/pii", {"propagates": None}),
        ("PUT", "/settings", {"on_delete": "maybe"}),
        ("PUT", "/settings", {}),
    ],
)
def test_what_defines_nothing_legal_is_refused(door: Door, method: str, path: str, body: Any) -> None:
    answer = door.http.request(method, path, json=body)
    assert answer.status_code == 400, answer.text
    assert codes(answer)


def test_deciding_needs_policy_write_and_reading_policy_or_metadata_read(door: Door) -> None:
    with door.limited("metadata:read", "metadata:write", "policy:read") as limited:
        for answer in (
            limited.http.post("/tags", json={"name": "x"}),
            limited.http.put("/tags/pii", json={"max_depth": 1}),
            limited.http.delete("/tags/pii"),
            limited.http.put("/settings", json={"on_delete": "cut"}),
        ):
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
    for scope in ("metadata:read", "policy:read"):
        with door.limited(scope) as reader:
            assert reader.http.get("/tags").status_code == reader.http.get("/settings").status_code == 200
    with door.limited("lineage:read") as stranger:
        assert stranger.http.get("/tags").status_code == stranger.http.get("/settings").status_code == 403


def test_what_deletion_means_is_decided_with_a_trace(door: Door, other_door: Door) -> None:
    assert door.http.get("/settings").json()["on_delete"] == "keep"
    for value in ("cut", "cut", "keep"):
        assert door.http.put("/settings", json={"on_delete": value}).json()["on_delete"] == value
        assert door.http.get("/settings").json()["on_delete"] == value
    assert decisions_of(door) == [
        ("setting", "on_delete", "keep", "cut", "tester"),
        ("setting", "on_delete", "cut", "keep", "tester"),
    ]
    assert [row[1] for row in audit_of(door)] == ["setting.changed"] * 2
    assert other_door.http.get("/settings").json()["on_delete"] == "keep"


def test_a_tag_protects_from_the_moment_it_propagates(door: Door) -> None:
    door.ingest("people", tags=["public"])
    door.change("POST", "/metadata/people/tags", {"tag": "Secret"})
    assert door.read("people")["tags"]["effective"] == ["public"]
    door.http.post("/tags", json={"name": "SECRET", "propagates": True})
    assert door.read("people")["tags"]["effective"] == ["public", "SECRET"]
    door.ingest("report")
    connect(door, ("people", "report"))
    propagate(door)
    assert door.read("report")["tags"]["effective"] == ["SECRET"]
    door.http.put("/tags/secret", json={"propagates": False})
    assert door.read("people")["tags"]["effective"] == ["public"]
    assert door.read("report")["tags"]["effective"] == []


def test_tenants_decide_apart(door: Door, other_door: Door) -> None:
    door.http.post("/tags", json={"name": "Secret", "propagates": True})
    assert other_door.http.get("/tags/secret").status_code == 404
    assert [item["name"] for item in other_door.http.get("/tags").json()["items"]] == ["GDPR", "PII"]
