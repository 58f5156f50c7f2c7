"""Bodies sent as gzip, at every door that takes a body."""

import gzip
from typing import Any

import httpx
import orjson
import pytest

from tests.contract.door import WAIT, Door, codes, table

JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
GZIP = {"Content-Encoding": "gzip"}
EDGE = {"from": "shop.orders", "to": "bi.report", "relationship_type": "used-in"}
SQL = {"sql": "create table a as select x from b", "dialect": "postgres", "dry_run": True}
RUN = {
    "eventTime": "2026-01-01T08:00:00Z",
    "run": {"runId": "0190d3c4-6f8e-7c3a-9d55-0a4c8f6a1b2c"},
    "job": {"namespace": "n", "name": "j"},
    "producer": "https://example.org",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
}
DOORS: list[tuple[str, str, Any]] = [
    ("POST", "/ingest-metadata", table("shop.new")),
    ("PUT", "/metadata/shop.orders", {"attributes": {"owner": "bob"}}),
    ("PUT", "/metadata/by-name?qualified_name=shop.orders", {"attributes": {"owner": "bob"}}),
    ("POST", "/metadata/batch-get", {"ids": ["shop.orders"]}),
    ("POST", "/metadata/shop.orders/tags", {"tag": "Finance"}),
    ("POST", "/lineage", {"edges": [EDGE]}),
    ("POST", "/lineage/sql", SQL),
    ("POST", "/api/v1/lineage", RUN),
    ("POST", "/tags", {"name": "Finance"}),
    ("POST", "/propagation-rules", {"name": "r", "attribute": "owner", "mode": "override"}),
    ("PUT", "/settings", {"on_delete": "keep"}),
    ("POST", "/dead-letters/replay", {"all": True}),
]


def send(door: Door, method: str, path: str, body: bytes, **headers: str) -> httpx.Response:
    return door.http.request(method, path, content=body, headers=JSON | headers)


@pytest.mark.parametrize(("method", "path", "body"), DOORS, ids=[f"{method} {path}" for method, path, _ in DOORS])
def test_a_door_takes_gzip_and_nothing_stranger(door: Door, method: str, path: str, body: Any) -> None:
    door.ingest("shop.orders")
    packed = gzip.compress(orjson.dumps(body))
    strange = send(door, method, path, packed, **{"Content-Encoding": "br"})
    assert (strange.status_code, codes(strange)) == (415, {"UNSUPPORTED_ENCODING"})
    assert strange.headers["accept-encoding"] == "gzip, identity"
    broken = send(door, method, path, packed[:-9], **GZIP)
    assert (broken.status_code, codes(broken)) == (400, {"MALFORMED_GZIP"})
    taken = send(door, method, path, packed, **GZIP)
    assert taken.status_code in {200, 201, 202}, taken.text


def test_what_was_sent_as_gzip_can_be_read(door: Door) -> None:
    packed = gzip.compress(orjson.dumps(table("shop.packed", description="x" * 5_000)))
    answer = door.http.post("/ingest-metadata", content=packed, headers=JSON | GZIP | WAIT)
    assert answer.status_code == 200, answer.text
    assert door.read("shop.packed")["attributes"]["description"] == "x" * 5_000


def test_a_small_body_that_unpacks_to_a_huge_one_is_refused(door: Door) -> None:
    bomb = gzip.compress(b" " * (100 << 20))
    assert len(bomb) < 1 << 20
    for path in ("/ingest-metadata", "/lineage", "/lineage/sql"):
        answer = send(door, "POST", path, bomb, **GZIP)
        assert (answer.status_code, codes(answer)) == (413, {"TOO_LARGE"})


@pytest.mark.parametrize("kind", [LINES, JSON])
def test_a_bulk_body_is_unpacked_as_it_streams_in(door: Door, kind: dict[str, str]) -> None:
    rows = [table(f"shop.t{number}", description="x" * 500) for number in range(300)]
    body = orjson.dumps(rows) if kind is JSON else b"\n".join(orjson.dumps(row) for row in rows)
    packed = gzip.compress(body)
    pieces = iter([packed[start : start + 97] for start in range(0, len(packed), 97)])
    answer = door.http.post("/ingest-metadata/bulk", content=pieces, headers=kind | GZIP | WAIT)
    assert (answer.status_code, answer.json()) == (200, {"accepted": 300, "rejected": 0, "errors": []})
    assert door.read("shop.t299")["attributes"]["description"] == "x" * 500


def test_a_bulk_body_that_breaks_off_keeps_what_came_before(door: Door) -> None:
    body = b"".join(orjson.dumps(table(f"shop.t{number}")) + b"\n" for number in range(3))
    packed = gzip.compress(body)[:-4]  # all rows, but not the whole trailer
    answer = door.http.post("/ingest-metadata/bulk", content=packed, headers=LINES | GZIP | WAIT)
    told = answer.json()
    assert (answer.status_code, told["accepted"], told["rejected"]) == (200, 3, 1)
    assert [(error["row"], error["code"]) for error in told["errors"]] == [(4, "MALFORMED_GZIP")]


@pytest.mark.parametrize(
    ("encoding", "status", "code"), [("gzip", 400, "MALFORMED_GZIP"), ("zstd", 415, "UNSUPPORTED_ENCODING")]
)
def test_a_bulk_body_that_cannot_be_unpacked_is_refused(door: Door, encoding: str, status: int, code: str) -> None:
    headers = LINES | {"Content-Encoding": encoding}
    answer = door.http.post("/ingest-metadata/bulk", content=orjson.dumps(table("shop.x")), headers=headers)
    assert (answer.status_code, codes(answer)) == (status, {code})
