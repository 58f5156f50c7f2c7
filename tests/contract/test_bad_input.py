"""Bad input: a clear error with the contract's status, and nothing stored."""

import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson
import pytest

from tests.contract.door import Door, codes, table

JSON = {"Content-Type": "application/json"}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


BODIES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "MALFORMED_JSON"),
    "cut off": (b'{"entity_type": "table"', "MALFORMED_JSON"),
    "not UTF-8": (b'{"entity_type": "\xff\xfe"}', "MALFORMED_JSON"),
    "NaN": (b'{"entity_type": NaN}', "MALFORMED_JSON"),
    "a lone surrogate": (b'{"entity_type": "\\ud800"}', "MALFORMED_JSON"),
    "nested beyond any parser": (b"[" * 100_000 + b"]" * 100_000, "MALFORMED_JSON"),
    "trailing garbage": (b"{} {}", "MALFORMED_JSON"),
    "a list": (b"[]", "INVALID_TYPE"),
    "a string": (b'"table"', "INVALID_TYPE"),
    "null": (b"null", "INVALID_TYPE"),
}

EVENTS: dict[str, tuple[Any, str]] = {
    "no fields": ({}, "MISSING_FIELD"),
    "no name": ({"entity_type": "table", "attributes": {}}, "MISSING_FIELD"),
    "no type": ({"attributes": {"name": "x"}}, "MISSING_FIELD"),
    "unknown type": (table("x", "spaceship"), "UNKNOWN_ENTITY_TYPE"),
    "type of wrong type": ({"entity_type": 7, "attributes": {"name": "x"}}, "INVALID_TYPE"),
    "attributes no object": ({"entity_type": "table", "attributes": [1]}, "INVALID_TYPE"),
    "name no string": ({"entity_type": "table", "attributes": {"name": {"a": 1}}}, "INVALID_TYPE"),
    "blank name": ({"entity_type": "table", "attributes": {"name": " \t "}}, "INVALID_VALUE"),
    "NUL in the name": (table("x", name="a\x00b"), "INVALID_VALUE"),
    "NUL in a description": (table("x", description="a\x00b"), "INVALID_VALUE"),
    "NUL deep in a free attribute": (table("x", free={"a": ["b\x00"]}), "INVALID_VALUE"),
    "control characters": (table("x", owner="a\x07b"), "INVALID_VALUE"),
    "too long a name": (table("x", name="n" * 600), "TOO_LONG"),
    "too long a qualified name": (table("q" * 2000), "TOO_LONG"),
    "too long a description": (table("x", description="d" * 70_000), "TOO_LONG"),
    "too long a tag": (table("x", tags=["t" * 200]), "TOO_LONG"),
    "too many tags": (table("x", tags=[f"t{n}" for n in range(501)]), "TOO_LONG"),
    "too many attributes": (table("x") | {"attributes": {"name": "x"} | {f"a{n}": n for n in range(600)}}, "TOO_LONG"),
    "tags no list": (table("x", tags="PII"), "INVALID_TYPE"),
    "a tag no string": (table("x", tags=["PII", 3]), "INVALID_TYPE"),
    "absurd nesting": (table("x", free=nested(50)), "TOO_DEEP"),
    "an attribute of Lily's own": (
        {"entity_type": "table", "attributes": {"name": "x", "$deleted": True}},
        "INVALID_VALUE",
    ),
    "a name like an id": (table("0b1c2d3e-0000-4000-8000-000000000000"), "INVALID_VALUE"),
    "its own parent": (table("a.b", parent="a.b"), "INVALID_VALUE"),
    "unknown operation": (table("x") | {"operation": "explode"}, "INVALID_VALUE"),
    "an operation only a person has": (table("x") | {"operation": "restore"}, "INVALID_VALUE"),
    "time without zone": (table("x") | {"time": "2026-01-01T00:00:00"}, "INVALID_TIME"),
    "time no time": (table("x") | {"time": "yesterday"}, "INVALID_TIME"),
    "time a number": (table("x") | {"time": 1700000000}, "INVALID_TIME"),
    "the 30th of February": (table("x") | {"time": "2026-02-30T00:00:00Z"}, "INVALID_TIME"),
    "time in the far future": (table("x") | {"time": "2999-01-01T00:00:00Z"}, "TIME_IN_FUTURE"),
    "tenant no string": (table("x") | {"tenant_id": 5}, "INVALID_TYPE"),
    "a misspelled field": (table("x") | {"atributes": {}}, "UNKNOWN_FIELD"),
    "a layer of its own choice": (table("x") | {"layer": "user"}, "UNKNOWN_FIELD"),
    "an author of its own choice": (table("x") | {"by": "root"}, "UNKNOWN_FIELD"),
}


def assert_nothing_stored(door: Door) -> None:
    assert door.http.get("/metadata", params={"include_deleted": True}).json()["items"] == []


@pytest.mark.parametrize(("body", "code"), BODIES.values(), ids=BODIES.keys())
def test_what_is_no_event_is_refused(door: Door, body: bytes, code: str) -> None:
    answer = door.http.post("/ingest-metadata", content=body, headers=JSON)
    assert answer.status_code == 400
    assert codes(answer) == {code}
    assert_nothing_stored(door)


@pytest.mark.parametrize(("event", "code"), EVENTS.values(), ids=EVENTS.keys())
def test_an_event_that_breaks_the_contract_is_refused(door: Door, event: Any, code: str) -> None:
    answer = door.http.post("/ingest-metadata", content=orjson.dumps(event), headers=JSON)
    assert answer.status_code == 400
    assert code in codes(answer)
    assert_nothing_stored(door)


@pytest.mark.parametrize("media_type", ["text/plain", "application/xml", "application/x-www-form-urlencoded", ""])
def test_only_json_is_taken(door: Door, media_type: str) -> None:
    headers = {"Content-Type": media_type}
    answer = door.http.post("/ingest-metadata", content=orjson.dumps(table("x")), headers=headers)
    assert answer.status_code == 415
    assert codes(answer) == {"UNSUPPORTED_MEDIA_TYPE"}


def test_a_media_type_may_have_parameters_and_any_case(door: Door) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert door.http.post("/ingest-metadata", content=orjson.dumps(table("x")), headers=headers).status_code == 202


def test_too_large_a_body_is_refused_with_and_without_its_length(door: Door) -> None:
    body = orjson.dumps(table("x", description="d" * (2 << 20)))
    announced = door.http.post("/ingest-metadata", content=body, headers=JSON)
    streamed = door.http.post("/ingest-metadata", content=iter([body[:100], body[100:]]), headers=JSON)
    for answer in (announced, streamed):
        assert answer.status_code == 413
        assert codes(answer) == {"TOO_LARGE"}


def test_odd_but_legal_unicode_is_kept(door: Door) -> None:
    asset_id = door.ingest("größe.注文.😀", description="\u202e right to left, \ufeff, e\u0301", owner="Zoë ﷽")
    attributes = door.read(asset_id)["attributes"]
    assert attributes["qualified_name"] == "größe.注文.😀"
    assert attributes["description"] == "\u202e right to left, \ufeff, e\u0301"
    assert door.read("größe.注文.😀")["metadata_id"] == asset_id


def test_unknown_paths_and_methods_answer_in_the_same_shape(door: Door) -> None:
    assert codes(door.http.get("/no/such/path")) == {"NOT_FOUND"}
    refused = door.http.patch("/ingest-metadata")
    assert refused.status_code == 405
    assert codes(refused) == {"METHOD_NOT_ALLOWED"}
    assert refused.headers["allow"]


@pytest.mark.parametrize(
    ("request_line", "code"),
    [(b"GET /metadata?q=" + b"x" * 70_000 + b" HTTP/1.1", "TOO_LARGE"), (b"\x16\x03\x01 no HTTP", "INVALID_HTTP")],
    ids=["too long", "not HTTP"],
)
def test_what_is_hardly_http_is_refused_in_the_same_shape(door: Door, request_line: bytes, code: str) -> None:
    address = urlsplit(door.stack.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=30) as raw:
        raw.sendall(request_line + b"\r\n\r\n")
        told = b"".join(iter(lambda: raw.recv(65_536), b""))
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert orjson.loads(body)["errors"][0]["code"] == code


@pytest.mark.parametrize(
    "path",
    [
        "/metadata?limit=0",
        "/metadata?limit=1001",
        "/metadata?limit=ten",
        "/metadata?sort=colour",
        "/metadata?order=up",
        "/metadata?include_deleted=perhaps",
        "/metadata?cursor=forged",
        "/metadata?q=%00",
        "/dead-letters?cursor=!",
        "/dead-letters?limit=-1",
        "/metadata/by-name",
    ],
)
def test_bad_parameters_are_refused(door: Door, path: str) -> None:
    answer = door.http.get(path)
    assert answer.status_code == 400, answer.text
    assert codes(answer)


@pytest.mark.parametrize(
    ("method", "path", "meant"),
    [
        ("GET", "/metadata?entity_typ=table", "entity_type"),
        ("GET", "/metadata?Limit=5", "limit"),
        ("GET", "/metadata/{id}?asof=2026-01-01T00:00:00Z", "as_of"),
        ("GET", "/metadata/by-name?qualified_nmae=shop.orders", "qualified_name"),
        ("PUT", "/metadata/by-name?qualified_name=shop.orders&qualifiedname=x", "qualified_name"),
        ("GET", "/metadata/{id}/history?limt=5", "limit"),
        ("GET", "/metadata/{id}/tags?origin=true", "origins"),
        ("GET", "/lineage/{id}?directon=both", "direction"),
        ("GET", "/dead-letters?curser=x", "cursor"),
        ("POST", "/propagations/dry-run?limits=5", "limit"),
    ],
)
def test_a_misspelt_parameter_is_refused_with_the_one_that_was_meant(
    door: Door, method: str, path: str, meant: str
) -> None:
    answer = door.http.request(method, path.replace("{id}", "shop.orders"), json=None if method == "GET" else {})
    assert (answer.status_code, codes(answer)) == (400, {"UNKNOWN_PARAMETER"}), answer.text
    assert f"did you mean `{meant}`?" in answer.json()["errors"][0]["description"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/metadata?nmae=orders"),
        ("GET", "/metadata/0b5d2c3e-8a41-8c2d-9f10-3c2b1a0f9e8d?x=1"),
        ("POST", "/ingest-metadata?dry_run=true"),
        ("POST", "/ingest-metadata/bulk?x=1"),
        ("POST", "/api/v1/lineage?x=1"),
        ("DELETE", "/metadata/shop.orders?force=true"),
        ("GET", "/settings?x=1"),
        ("GET", "/schemas?x=1"),
    ],
)
def test_a_parameter_that_a_call_does_not_take_is_refused(door: Door, method: str, path: str) -> None:
    answer = door.http.request(method, path, json=None if method == "GET" else {})
    assert (answer.status_code, codes(answer)) == (400, {"UNKNOWN_PARAMETER"}), answer.text


def test_the_token_is_checked_before_the_parameters(door: Door) -> None:
    assert httpx.get(f"{door.stack.url}/metadata?nmae=x", timeout=30).status_code == 401


@pytest.mark.parametrize("path", ["/health/live?t=1", "/health/ready?t=1", "/?utm=1", "/docs?x=1", "/metrics?x=1"])
def test_probes_pages_and_scrapes_take_any_parameter(door: Door, path: str) -> None:
    assert door.http.get(path).status_code == 200


def test_an_entity_type_that_does_not_exist_is_refused_with_a_hint(door: Door) -> None:
    answer = door.http.get("/metadata", params={"entity_type": "tabel"})
    assert (answer.status_code, codes(answer)) == (400, {"UNKNOWN_ENTITY_TYPE"})
    assert "did you mean `table`?" in answer.text
    assert door.http.get("/metadata", params={"entity_type": "Table"}).status_code == 200


def test_an_unknown_field_of_a_body_is_refused_with_a_hint(door: Door) -> None:
    answer = door.http.post("/tags", json={"name": "X", "propagate": True})
    assert (answer.status_code, codes(answer)) == (400, {"UNKNOWN_FIELD"})
    assert "did you mean `propagates`?" in answer.text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/metadata/batch-get", {}),
        ("/metadata/batch-get", {"ids": "x"}),
        ("/metadata/batch-get", {"ids": [1]}),
        ("/metadata/batch-get", {"ids": ["x"] * 1001}),
        ("/metadata/batch-get", {"ids": [], "more": 1}),
        ("/dead-letters/replay", {}),
        ("/dead-letters/replay", {"all": False}),
        ("/dead-letters/replay", {"ids": ["x"]}),
        ("/dead-letters/replay", {"ids": [0]}),
        ("/dead-letters/replay", {"ids": [1], "all": True}),
    ],
)
def test_bad_bodies_are_refused(door: Door, path: str, body: Any) -> None:
    answer = door.http.post(path, json=body)
    assert answer.status_code == 400, answer.text
    assert codes(answer)


def test_a_subresource_does_not_take_the_methods_of_its_asset(door: Door) -> None:
    door.ingest("shop.orders")
    for method in ("PUT", "DELETE"):
        answer = door.http.request(method, "/metadata/shop.orders/history", json={"attributes": {"owner": "x"}})
        assert (answer.status_code, codes(answer), answer.headers["allow"]) == (405, {"METHOD_NOT_ALLOWED"}, "GET")
