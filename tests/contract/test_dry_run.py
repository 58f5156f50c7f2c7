"""What would this tag reach? Asked without writing anything."""

from typing import Any

import pytest

from lily.model import ids
from tests.contract.door import WAIT, Door, codes, table
from tests.contract.flows import connect, ingest_all, propagate


@pytest.fixture
def flow(door: Door) -> Door:
    """a → b → c → d, b → masked → e, and a column of c with an edge of its own to f."""
    ingest_all(door, *(table(name) for name in "abcdef"))
    door.ingest("c.x", "column", parent="c")
    connect(door, ("a", "b"), ("b", "c"), ("c", "d"), ("c.x", "f"))
    connect(door, ("b", "e"), masking=True)
    propagate(door)
    return door


def run(door: Door, asset: str = "a", tag: str = "PII", **parameters: Any) -> dict[str, Any]:
    answer = door.http.post("/propagations/dry-run", json={"asset": asset, "tag": tag}, params=parameters)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def reached(told: dict[str, Any]) -> dict[str, int]:
    return {item["qualified_name"]: item["depth"] for item in told["items"]}


def test_it_tells_what_the_tag_would_reach_and_how_far_away(flow: Door) -> None:
    told = run(flow, tag="pii")
    assert reached(told) == {"b": 1, "c": 2, "c.x": 2, "d": 3, "f": 3}
    assert (told["tag"], told["propagates"], told["reached"], told["depth"]) == ("PII", True, 5, 3)
    assert [item["via"] for item in told["items"] if item["qualified_name"] == "b"] == [ids.asset_id(flow.tenant, "a")]
    assert "e" in reached(run(flow, tag="GDPR"))  # masking does not satisfy it
    assert flow.read("b")["tags"]["propagated"] == []


def test_what_it_tells_is_what_happens_then(flow: Door) -> None:
    expected = reached(run(flow))
    flow.change("POST", "/metadata/a/tags", {"tag": "PII"})
    propagate(flow)
    tagged = {name for name in (*"bcdef", "c.x") if flow.read(name)["tags"]["effective"] == ["PII"]}
    assert tagged == set(expected)
    assert all(item["already"] for item in run(flow)["items"])


def test_it_keeps_to_the_definition_and_to_suppressions(flow: Door) -> None:
    flow.http.post("/tags", json={"name": "Near", "propagates": True, "max_depth": 1})
    flow.http.post("/tags", json={"name": "Up", "propagates": True, "direction": "upstream"})
    flow.http.post("/tags", json={"name": "Still"})
    assert reached(run(flow, tag="near")) == {"b": 1}
    assert reached(run(flow, "d", "UP")) == {"c": 1, "b": 2, "a": 3, "c.x": 1}
    for tag in ("Still", "Unheard"):
        told = run(flow, tag=tag)
        assert (told["propagates"], told["reached"], told["items"]) == (False, 0, [])
    flow.change("POST", "/metadata/a/tags", {"tag": "PII"})
    propagate(flow)
    flow.change("POST", "/metadata/c/tags/PII/suppress", {"reason": "tokenised"})
    propagate(flow)
    told = run(flow)
    assert reached(told) == {"b": 1, "c": 2}
    assert [item["suppressed"] for item in told["items"]] == [False, True]


def test_a_cycle_ends(flow: Door) -> None:
    connect(flow, ("d", "a"))
    assert reached(run(flow)) == {"b": 1, "c": 2, "c.x": 2, "d": 3, "f": 3}


def test_columns_of_the_lake_are_named_and_assets_to_come_are_not(flow: Door) -> None:
    answer = flow.http.post("/ingest-metadata/bulk", json=[table("f.y", "column", parent="f")], headers=WAIT)
    assert answer.status_code == 200
    connect(flow, ("a", "f.y"), ("a", "not.yet"))
    told = {item["metadata_id"]: item["qualified_name"] for item in run(flow)["items"]}
    assert told[ids.asset_id(flow.tenant, "not.yet")] is None
    assert told[ids.asset_id(flow.tenant, "f.y")] == "f.y"


def test_its_answer_is_paged(flow: Door) -> None:
    seen: list[str] = []
    asked: dict[str, Any] = {"limit": 2}
    while asked.get("cursor", "") is not None:
        page = run(flow, **asked)
        assert page["reached"] == 5
        seen += reached(page)
        asked["cursor"] = page["next_cursor"]
    assert seen == list(reached(run(flow)))


def test_where_deletion_cuts_a_deleted_asset_reaches_nothing(flow: Door) -> None:
    flow.change("DELETE", "/metadata/b")
    assert "c" in reached(run(flow))
    flow.http.put("/settings", json={"on_delete": "cut"})
    assert reached(run(flow)) == {"b": 1}
    assert reached(run(flow, "b")) == {}


def test_it_needs_to_read_metadata_and_lineage(flow: Door) -> None:
    for scopes in (["metadata:read"], ["lineage:read"]):
        with flow.limited(*scopes) as limited:
            answer = limited.http.post("/propagations/dry-run", json={"asset": "a", "tag": "PII"})
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
    assert flow.http.post("/propagations/dry-run", json={"asset": "nowhere", "tag": "PII"}).status_code == 404
    assert flow.http.post("/propagations/dry-run", json={"asset": "a"}).status_code == 400
