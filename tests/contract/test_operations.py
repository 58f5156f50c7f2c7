"""What operators see: probes, metrics, documents, correlation."""

import json
import re
import socket
from urllib.parse import urlsplit

import httpx

from lily.api.routes.documents.schemas import SCHEMAS
from lily.bus import topics
from tests.contract.door import Door, table
from tests.shared_stack import Stack, lily


def test_probes_answer(stack: Stack) -> None:
    assert httpx.get(f"{stack.url}/health/live", timeout=30).json() == {"status": "ok"}
    told = httpx.get(f"{stack.url}/health/ready", timeout=30).json()
    assert (told["status"], set(told["lag"])) == ("ok", set(topics.INTAKE))


def test_the_status_tells_the_lag_of_both_lanes(stack: Stack) -> None:
    told = json.loads(lily("status", data_dir=stack.data_dir).stdout)
    assert set(told["lag"]) == set(topics.INTAKE)


def test_metrics_count_and_name_no_tenant(door: Door) -> None:
    door.ingest("shop.orders")
    text = door.http.get("/metrics").text
    for family in (
        'lily_http_request_seconds_count{method="POST",route="/ingest-metadata",status="200"}',
        'lily_events_accepted_total{lane="hot"}',
        'lily_events_accepted_total{lane="bulk"}',
        "lily_event_bytes_total",
        "lily_log_unconfirmed_events",
        'lily_log_lag_events{topic="asset-ingestion-events"}',
        'lily_log_lag_events{topic="asset-ingestion-events-bulk"}',
        "lily_outbox_backlog_batches",
        "lily_dead_letters",
    ):
        assert family in text
    assert door.tenant not in text
    described = [line.split(" ")[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(described) == len(set(described))


def test_a_correlation_id_is_kept_if_it_is_one_and_made_if_not(door: Door) -> None:
    assert door.http.get("/metadata", headers={"X-Correlation-Id": "mine-7"}).headers["x-correlation-id"] == "mine-7"
    for unusable in ("", "x" * 65, "grün"):
        answer = door.http.get("/metadata", headers={b"X-Correlation-Id": unusable.encode()})
        assert answer.headers["x-correlation-id"] not in {"", unusable}
    assert door.http.get("/nowhere").headers["x-correlation-id"]
    assert httpx.get(f"{door.stack.url}/metadata", timeout=30).headers["x-correlation-id"]


def test_a_plain_read_has_the_headers_of_any_other(door: Door) -> None:
    """By id it is answered before the framework, by name within it; nobody can tell."""
    asset_id = door.ingest("shop.orders")
    fast, usual = door.http.get(f"/metadata/{asset_id}"), door.http.get("/metadata/shop.orders")
    assert fast.content == usual.content
    assert fast.headers.keys() == usual.headers.keys()
    assert fast.headers["content-type"] == usual.headers["content-type"]


def test_pipelined_requests_are_answered_in_order(door: Door) -> None:
    assets = [door.ingest(f"shop.t{number}") for number in range(3)]
    paths = [
        f"/metadata/{assets[0]}",
        "/metadata/shop.t1",
        f"/metadata/{assets[2]}",
        "/nowhere",
        f"/metadata/{assets[1]}",
    ]
    address = urlsplit(door.stack.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=30) as raw:
        for number, path in enumerate(paths):
            head = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {door.token}\r\n"
            last = "Connection: close\r\n" if number == len(paths) - 1 else ""
            raw.sendall(f"{head}X-Correlation-Id: n{number}\r\n{last}\r\n".encode())
        told = b"".join(iter(lambda: raw.recv(65_536), b"")).decode()
    assert re.findall(r"HTTP/1.1 (\d+)", told) == ["200", "200", "200", "404", "200"]
    assert re.findall(r"x-correlation-id: (\w+)", told) == [f"n{number}" for number in range(len(paths))]
    assert re.findall(r'"metadata_id":"([^"]+)"', told) == [*assets, assets[1]]


def test_schemas_are_published(door: Door) -> None:
    assert door.http.get("/schemas").json() == SCHEMAS
    for name in ("asset-event", "incident-event"):
        assert door.http.get(f"/schemas/{name}").json()["title"] == name
    assert door.http.get("/schemas/nothing").status_code == 404


def test_an_answer_says_nothing_about_the_inside(door: Door) -> None:
    answer = door.http.post("/ingest-metadata", json=table("x", free=[{"a": "\ud7ff"}]))
    assert "server" not in answer.headers
    assert "Traceback" not in door.http.get("/metadata/%F0%28%8C%28").text
