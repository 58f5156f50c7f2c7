"""The lineage graph through the doors: what people say about edges, who may, and the graph around an asset."""

from collections.abc import Iterable
from typing import Any

import httpx
import orjson
import psycopg
import pytest
from confluent_kafka import Producer

from lily.api.http.openapi.requests import MAX_EDGES
from lily.bus import topics
from lily.model import ids
from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement
from tests.contract.door import Door, codes
from tests.stream.test_hot_query import read_all

TYPE = "derived-from"


def edge(start: str, end: str, kind: str = TYPE, **settings: Any) -> dict[str, Any]:
    return {"from": start, "to": end, "relationship_type": kind, **settings}


def post(door: Door, *edges: dict[str, Any]) -> dict[str, Any]:
    return door.change("POST", "/lineage", {"edges": list(edges)})


def delete(door: Door, *edges: dict[str, Any]) -> dict[str, Any]:
    return door.change("DELETE", "/lineage", {"edges": list(edges)})


def graph(door: Door, start: str, **asked: Any) -> dict[str, Any]:
    answer = door.http.get(f"/lineage/{start}", params=asked)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def names(door: Door, found: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Ids as the names the tests use."""
    return {ids.asset_id(door.tenant, name): name for name in "abcdefgh"} | {"": str(found)}


def links(door: Door, start: str, **asked: Any) -> set[str]:
    """The edges around an asset, as `a>b`."""
    found = graph(door, start, **asked)["edges"]
    known = names(door, found)
    return {f"{known[item['from']]}>{known[item['to']]}" for item in found}


def depths(door: Door, start: str, **asked: Any) -> dict[str, int]:
    nodes = graph(door, start, **asked)["nodes"]
    known = names(door, nodes)
    return {known[node["metadata_id"]]: node["depth"] for node in nodes}


def state(door: Door, start: str, end: str) -> tuple[bool, bool] | None:
    """Whether the edge propagates and masks; None where there is none."""
    target = ids.asset_id(door.tenant, end)
    found = [item for item in graph(door, start, depth=1)["edges"] if item["to"] == target]
    return (found[0]["propagates"], found[0]["masking"]) if found else None


def state_as_source(door: Door, *events: EdgeEvent | ClaimsEvent) -> None:
    """Appends to the log what an ingestion would, and waits for it behind a write of one's own."""
    producer = Producer({**door.stack.kafka.client, "acks": "all", "partitioner": "murmur2_random"})
    for event in events:
        producer.produce(topics.LINEAGE_INTAKE, orjson.dumps(event.as_cloudevent()), event.key)
    assert producer.flush(15) == 0
    for event in events:
        end = event.job_id if isinstance(event, ClaimsEvent) else event.statement.key.to_id
        post(door, edge("somewhere", end, "after"))  # the same partition, so it is applied after the event


def source_says(door: Door, start: str, end: str, time: str, **more: Any) -> EdgeEvent:
    key = EdgeKey(ids.asset_id(door.tenant, start), ids.asset_id(door.tenant, end), TYPE)
    statement = EdgeStatement("source", more.pop("operation", "upsert"), key, more, "scraper")
    return EdgeEvent(ids.event_id(), time, door.tenant, statement)


def test_an_edge_can_be_stated_deleted_and_stated_again(door: Door) -> None:
    for name in "ab":
        door.ingest(name)
    told = post(door, edge("a", "b"))
    assert told["accepted"] == 1
    ends = {"from": ids.asset_id(door.tenant, "a"), "to": ids.asset_id(door.tenant, "b")}
    assert told["edges"] == [{**ends, "relationship_type": TYPE}]
    assert (told["status"], told["superseded"]) == ("success", False)
    assert state(door, "a", "b") == (True, False)
    delete(door, edge("a", "b"))
    assert graph(door, "a")["edges"] == []
    post(door, edge(ends["from"], " b ", "Derived-From"))
    assert state(door, "a", "b") == (True, False)


def test_a_post_changes_the_fields_it_names(door: Door) -> None:
    post(door, edge("a", "b", propagates=False))
    assert state(door, "a", "b") == (False, False)
    post(door, edge("a", "b", masking=True))
    assert state(door, "a", "b") == (False, True)
    post(door, edge("a", "b", propagates=None, masking=False))
    assert state(door, "a", "b") == (True, False)


def test_a_write_without_waiting_names_a_receipt(door: Door) -> None:
    answer = door.http.post("/lineage", json={"edges": [edge("a", "b")]})
    assert answer.status_code == 202
    assert set(answer.json()) == {"status", "accepted", "edges"}
    assert door.http.get(f"/propagations/{answer.headers['Lily-Receipt']}").status_code == 200


def test_a_persons_word_outlives_every_later_statement_of_a_source(door: Door) -> None:
    state_as_source(door, source_says(door, "a", "b", "2026-01-01T00:00:00.000000Z", masking=True))
    assert state(door, "a", "b") == (True, True)
    post(door, edge("a", "b", masking=False, propagates=False))
    later = "2026-11-15T00:00:00.000000Z"
    state_as_source(door, source_says(door, "a", "b", later, masking=True, propagates=True))
    assert state(door, "a", "b") == (False, False)
    delete(door, edge("a", "b"))
    state_as_source(door, source_says(door, "a", "b", "2026-11-15T00:00:01.000000Z"))
    assert state(door, "a", "b") is None


def test_an_edge_of_a_source_goes_when_the_source_deletes_it(door: Door) -> None:
    state_as_source(door, source_says(door, "a", "b", "2026-01-02T00:00:00.000000Z"))
    state_as_source(door, source_says(door, "a", "b", "2026-01-01T00:00:00.000000Z", operation="delete"))
    assert state(door, "a", "b") == (True, False)
    state_as_source(door, source_says(door, "a", "b", "2026-01-03T00:00:00.000000Z", operation="delete"))
    assert state(door, "a", "b") is None


def test_a_jobs_next_complete_run_replaces_its_edges_and_no_others(door: Door) -> None:
    job = ids.asset_id(door.tenant, "job")

    def run(name: str, time: str, *ends: str) -> ClaimsEvent:
        keys = [EdgeKey(ids.asset_id(door.tenant, "a"), ids.asset_id(door.tenant, end), TYPE) for end in ends]
        claims = tuple(Claim(key) for key in keys)
        return ClaimsEvent(ids.event_id(), time, door.tenant, job, name, complete=True, claims=claims)

    post(door, edge("a", "d"))
    state_as_source(door, run("r1", "2026-01-01T00:00:00.000000Z", "b", "c"))
    assert links(door, "a") == {"a>b", "a>c", "a>d"}
    state_as_source(door, run("r2", "2026-01-02T00:00:00.000000Z", "c"))
    assert links(door, "a") == {"a>c", "a>d"}


def test_the_graph_is_told_level_by_level_with_what_is_known(door: Door) -> None:
    for name in "abc":
        door.ingest(name, tags=["PII"] if name == "b" else None)
    post(door, edge("a", "b"), edge("b", "c", "used-in"), edge("c", "d"), edge("a", "c"))
    found = graph(door, "a", depth=1)
    assert found["next_cursor"] is None
    assert depths(door, "a", depth=1) == {"a": 0, "b": 1, "c": 1}
    assert depths(door, "a") == {"a": 0, "b": 1, "c": 1, "d": 2}
    nodes = {node["qualified_name"]: node for node in graph(door, "a")["nodes"]}
    assert nodes["b"] == {
        "id": ids.asset_id(door.tenant, "b"),
        "metadata_id": ids.asset_id(door.tenant, "b"),
        "qualified_name": "b",
        "name": "b",
        "entity_type": "table",
        "is_deleted": False,
        "depth": 1,
        "known": True,
        "tags": ["PII"],
        "at_risk": [],
        "redacted": False,
    }
    assert nodes["c"]["tags"] == ["PII"]  # derived
    assert (nodes["d"]["known"], nodes["d"]["name"]) == (False, None)  # only the edge has named it
    named = {(item["from_name"], item["to_name"]) for item in graph(door, "a")["edges"]}
    assert named == {("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")}
    assert {item["relationship_type"] for item in graph(door, "b")["edges"]} == {"used-in", TYPE}


def test_upstream_and_both(door: Door) -> None:
    post(door, edge("a", "b"), edge("b", "c"), edge("x", "c"), edge("c", "d"))
    assert depths(door, "c", direction="downstream") == {"c": 0, "d": 1}
    assert depths(door, "b", direction="upstream") == {"b": 0, "a": -1}
    assert depths(door, "b", direction="both") == {"b": 0, "c": 1, "d": 2, "a": -1}
    assert links(door, "b", direction="both") == {"a>b", "b>c", "c>d"}


def test_circles_end_and_each_edge_is_told_once(door: Door) -> None:
    post(door, edge("a", "b"), edge("b", "c"), edge("c", "a"), edge("c", "d"))
    for direction in ("downstream", "upstream", "both"):
        found = graph(door, "a", depth=10_000, direction=direction)
        assert len(found["edges"]) == (3 if direction == "upstream" else 4)
        told = [node["metadata_id"] for node in found["nodes"]]
        assert len(told) == len(set(told))


def test_pages_together_are_the_whole_graph_in_order(door: Door) -> None:
    pairs = [("a", end) for end in "bcdefgh"] + [("b", "h"), ("c", "d"), ("d", "a"), ("h", "e")]
    post(door, *(edge(*pair) for pair in pairs))
    for direction in ("downstream", "both"):
        whole = graph(door, "a", depth=9, direction=direction)
        nodes: list[Any] = []
        edges: list[Any] = []
        cursor: dict[str, str] = {}
        for _ in range(len(pairs)):
            page = graph(door, "a", depth=9, direction=direction, limit=2, **cursor)
            assert len(page["edges"]) <= 2
            nodes, edges = nodes + page["nodes"], edges + page["edges"]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert (nodes, edges) == (whole["nodes"], whole["edges"])
        assert len(edges) == len(pairs)
    first = graph(door, "a", depth=9, limit=2)
    other = door.http.get("/lineage/a", params={"depth": 8, "limit": 2, "cursor": first["next_cursor"]})
    assert (other.status_code, codes(other)) == (400, {"INVALID_CURSOR"})


def test_a_deleted_asset_is_shown_unless_it_is_to_be_removed_with_what_lies_behind(door: Door) -> None:
    for name in "abc":
        door.ingest(name)
    post(door, edge("a", "b"), edge("b", "c"), edge("a", "d"))
    door.change("DELETE", f"/metadata/{ids.asset_id(door.tenant, 'b')}")
    deleted = {node["qualified_name"] for node in graph(door, "a")["nodes"] if node["is_deleted"]}
    assert deleted == {"b"}
    assert links(door, "a") == {"a>b", "b>c", "a>d"}
    assert links(door, "a", remove_deleted=True) == {"a>d"}
    assert depths(door, "c", remove_deleted=True, direction="upstream") == {"c": 0}


def test_columns_start_from_the_columns_of_the_asset_as_well(door: Door) -> None:
    table, column = door.ingest("shop.t"), door.ingest("shop.t.id", "column", parent="shop.t")
    report = door.ingest("report.total", "field")
    post(door, edge("shop.t.id", "report.total"))
    assert graph(door, "shop.t")["edges"] == []
    found = graph(door, "shop.t", columns=True)
    assert [(item["from"], item["to"]) for item in found["edges"]] == [(column, report)]
    assert {node["metadata_id"]: node["depth"] for node in found["nodes"]} == {table: 0, column: 0, report: 1}


def test_an_asset_that_nobody_knows_is_not_found(door: Door) -> None:
    assert door.http.get("/lineage/nowhere").status_code == 404
    post(door, edge("from nowhere", "to nowhere"))
    for end, direction in (("from nowhere", "downstream"), ("to nowhere", "upstream")):
        found = graph(door, end, direction=direction)
        assert [node["known"] for node in found["nodes"]] == [False, False]
        assert len(found["edges"]) == 1
    assert graph(door, "to nowhere", direction="downstream")["edges"] == []
    door.ingest("alone")
    assert graph(door, "alone") == graph(door, "alone") | {"edges": [], "next_cursor": None}


def test_another_tenants_edges_are_invisible(door: Door, other_door: Door) -> None:
    start, end = (door.ingest(name) for name in "ab")
    post(door, edge(start, end))
    assert other_door.http.get(f"/lineage/{start}").status_code == 404
    answer = other_door.http.request("DELETE", "/lineage", json={"edges": [edge(start, end)]})
    assert (answer.status_code, codes(answer)) == (404, {"NOT_FOUND"})
    post(other_door, edge(start, end, masking=True))  # ids are names to the other tenant: an edge of its own
    assert state(door, "a", "b") == (True, False)


def test_what_there_is_not_cannot_be_deleted(door: Door) -> None:
    post(door, edge("a", "b"))
    answer = door.http.request("DELETE", "/lineage", json={"edges": [edge("a", "b"), edge("a", "c")]})
    assert (answer.status_code, codes(answer)) == (404, {"NOT_FOUND"})
    assert ids.asset_id(door.tenant, "c") in answer.text
    assert state(door, "a", "b") == (True, False)
    delete(door, edge("a", "b"))
    again = door.http.request("DELETE", "/lineage", json={"edges": [edge("a", "b")]})
    assert again.status_code == 404


def test_each_call_needs_its_scope(door: Door) -> None:
    door.ingest("a")
    body = {"edges": [edge("a", "b")]}
    with door.limited("lineage:read", "metadata:write") as reader:
        assert reader.http.get("/lineage/a").status_code == 200
        assert reader.http.post("/lineage", json=body).status_code == 403
        assert reader.http.request("DELETE", "/lineage", json=body).status_code == 403
    with door.limited("lineage:write", "metadata:read") as writer:
        assert writer.http.post("/lineage", json=body).status_code == 202
        assert writer.http.get("/lineage/a").status_code == 403
    assert httpx.get(f"{door.stack.url}/lineage/a").status_code == 401


def refused(door: Door, *edges: dict[str, Any]) -> set[str]:
    answer = door.http.post("/lineage", json={"edges": list(edges)})
    assert answer.status_code == 400, answer.text
    return codes(answer)


def test_bad_edges_are_refused_and_nothing_is_written(door: Door) -> None:
    good = edge("a", "b")
    assert refused(door, good, edge("c", "c")) == {"SELF_LOOP"}
    assert refused(door, good, edge("c", ids.asset_id(door.tenant, "c"))) == {"SELF_LOOP"}
    assert refused(door, good, edge("c", "d", " ")) == {"INVALID_VALUE"}
    assert refused(door, good, edge("c", "d", colour="red")) == {"UNKNOWN_FIELD"}
    assert refused(door, good, edge("c", "d", masking="yes")) == {"INVALID_VALUE"}
    assert refused(door, good, {"from": "c", "to": "d"}) == {"INVALID_VALUE"}
    assert refused(door, good, edge("c", "d\x00")) == {"INVALID_VALUE"}
    assert refused(door, good, edge("c", "x" * 2000)) == {"INVALID_VALUE"}
    assert refused(door) == {"INVALID_VALUE"}
    assert refused(door, good, edge("a", "b", masking=True)) == {"CONTRADICTION"}
    both = door.http.post("/lineage", json={"edges": [edge("c", "c"), good, edge("d", "d")]})
    assert [error["entity"] for error in both.json()["errors"]] == ["edges.0.to", "edges.2.to"]
    assert door.http.get("/lineage/a").status_code == 404
    bodies: tuple[Any, ...] = ([], {"edges": {}}, {"edges": [good], "more": 1}, {"edges": ["x"]})
    for body in bodies:
        assert door.http.post("/lineage", json=body).status_code == 400
    asked: tuple[dict[str, Any], ...] = ({"depth": 0}, {"depth": 10_001}, {"direction": "up"}, {"limit": 0})
    for parameters in asked:
        assert door.http.get("/lineage/a", params=parameters).status_code == 400


def test_ten_thousand_edges_are_taken_at_once_and_not_one_more(door: Door) -> None:
    edges = [edge("hub", f"leaf.{number}") for number in range(MAX_EDGES)]
    too_many = door.http.post("/lineage", json={"edges": [*edges, edge("hub", "one more")]})
    assert (too_many.status_code, codes(too_many)) == (400, {"INVALID_VALUE"})
    told = post(door, *edges)
    assert told["accepted"] == MAX_EDGES
    page = graph(door, "hub", limit=MAX_EDGES)
    assert (len(page["edges"]), page["next_cursor"]) == (MAX_EDGES, None)
    assert len(page["nodes"]) == MAX_EDGES + 1


def test_an_edge_that_is_named_twice_counts_once(door: Door) -> None:
    assert post(door, edge("a", "b"), edge("a", "b"), edge("a", ids.asset_id(door.tenant, "b")))["accepted"] == 1


def audit_of(door: Door) -> list[tuple[str, str]]:
    with psycopg.connect(door.stack.database) as connection:
        asked = "select principal, action from audit where tenant_id = %s and action like 'edge.%%' order by id"
        return connection.execute(asked, [door.tenant]).fetchall()


@pytest.mark.parametrize(
    ("method", "settings"), [("DELETE", {}), ("POST", {"propagates": False}), ("POST", {"masking": True})]
)
def test_what_ends_an_edge_without_authority_is_accepted_and_the_tag_stays(
    door: Door, method: str, settings: dict[str, Any]
) -> None:
    door.ingest("a", tags=["PII"])
    door.ingest("b")
    door.ingest("c")
    post(door, edge("a", "b"), edge("b", "c"))
    with door.limited("lineage:write", "lineage:read") as limited:
        answer = limited.http.request(
            method, "/lineage", json={"edges": [edge("a", "b", **settings)]}, headers={"Prefer": "wait=30"}
        )
        assert answer.status_code == 200, answer.text
    found = door.http.get("/lineage/a").json()["edges"]
    assert [(one["propagates"], one["masking"]) for one in found] != [(True, False)]
    (item,) = door.http.get("/metadata/c/tags").json()["items"]
    assert (item["tag"], len(item["path"]), item["held"]) == ("PII", 3, True)
    assert audit_of(door) == []


def test_a_path_along_edges_that_are_shown_is_not_held(door: Door) -> None:
    door.ingest("a", tags=["PII"])
    door.ingest("b")
    post(door, edge("a", "b"))
    (item,) = door.http.get("/metadata/b/tags").json()["items"]
    assert not item.get("held")


def test_with_authority_an_edge_stops_conducting_and_that_leaves_a_trace(door: Door) -> None:
    door.ingest("a", tags=["PII"])
    door.ingest("b")
    post(door, edge("a", "b"))
    with door.limited("lineage:write") as limited:
        delete(limited, edge("a", "b"))
        answer = limited.http.request("DELETE", "/lineage", json={"edges": [edge("a", "b")]})
        assert answer.status_code == 404
    with door.limited("lineage:write", "policy:write") as strong:
        delete(strong, edge("a", "b"))
        assert door.http.get("/metadata/b/tags").json()["items"] == []
        post(strong, edge("a", "b"))
        post(strong, edge("a", "b", masking=True))
        post(strong, edge("a", "b", masking=False))
        post(strong, edge("a", "b", propagates=False))
        post(strong, edge("a", "b", propagates=True))
        delete(strong, edge("a", "b"))
    assert audit_of(door) == [("limited", f"edge.{what}") for what in ("deleted", "masked", "blocked", "deleted")]
    assert door.http.get("/metadata/b/tags").json()["items"] == []


def test_a_source_that_masks_an_edge_without_authority_does_not_stop_the_tag(door: Door) -> None:
    post(door, edge("a", "b"))
    door.ingest("a", tags=["PII"])
    door.ingest("b")
    state_as_source(door, source_says(door, "a", "b", "2026-11-15T00:00:00.000000Z", masking=True))
    assert state(door, "a", "b") == (True, True)
    assert door.http.get("/dead-letters").json()["items"] == []
    assert [item["tag"] for item in door.http.get("/metadata/b/tags").json()["items"]] == ["PII"]


def test_every_change_of_an_edge_is_told_on_its_topic(door: Door) -> None:
    post(door, edge("a", "b"))
    post(door, edge("a", "b", masking=True))
    delete(door, edge("a", "b"))
    with psycopg.connect(door.stack.database) as connection:
        asked = "select position from edge_changes where tenant_id = %s order by position"
        positions = [position for (position,) in connection.execute(asked, [door.tenant])]
    expected = [f"change-{position}" for position in positions]
    events = {event["id"]: event for event in read_all(door.stack, topics.LINEAGE, set(expected))}
    told = [events[event]["data"] for event in expected]
    assert [data["change"] for data in told] == ["created", "updated", "deleted"]
    assert told[1]["before"] | {"masking": True} == told[1]["after"]
    assert told[0]["causes"][0]["by"] == "tester"
    assert told[0]["from"] == ids.asset_id(door.tenant, "a")
