"""Who may do what: tokens, scopes, tenants."""

import time
from typing import Any

import httpx
import pytest

from lily.store.postgres.access.administration import revoke_token
from tests.contract.door import Door, client, codes, table
from tests.shared_stack import Stack

CALLS: list[tuple[str, str, Any, str]] = [
    ("POST", "/ingest-metadata", table("x"), "metadata:write"),
    ("POST", "/ingest-metadata/bulk", [table("x")], "metadata:write"),
    ("GET", "/metadata", None, "metadata:read"),
    ("GET", "/metadata/x", None, "metadata:read"),
    ("GET", "/metadata/0b1c2d3e-0000-4000-8000-000000000000", None, "metadata:read"),
    ("GET", "/metadata/by-name?qualified_name=x", None, "metadata:read"),
    ("PUT", "/metadata/x", {"attributes": {"owner": "me"}}, "metadata:write"),
    ("PUT", "/metadata/by-name?qualified_name=x", {"attributes": {"owner": "me"}}, "metadata:write"),
    ("DELETE", "/metadata/x", None, "metadata:write"),
    ("POST", "/metadata/x/restore", None, "metadata:write"),
    ("GET", "/metadata/x/history", None, "metadata:read"),
    ("GET", "/metadata/x/tags", None, "metadata:read"),
    ("GET", "/metadata/x/attributes", None, "metadata:read"),
    ("POST", "/metadata/x/tags", {"tag": "PII"}, "metadata:write"),
    ("DELETE", "/metadata/x/tags/PII", None, "metadata:write"),
    ("POST", "/metadata/batch-get", {"ids": ["x"]}, "metadata:read"),
    ("GET", "/propagations/x", None, "metadata:read"),
    ("GET", "/dead-letters", None, "metadata:read"),
    ("POST", "/dead-letters/replay", {"all": True}, "metadata:write"),
    ("POST", "/ws/tickets", None, "metadata:read"),
    ("GET", "/metrics", None, "metrics:read"),
]
IDS = [f"{method} {path}" for method, path, _, _ in CALLS]


@pytest.mark.parametrize(("method", "path", "body", "scope"), CALLS, ids=IDS)
def test_each_call_needs_a_token_with_its_scope(door: Door, method: str, path: str, body: Any, scope: str) -> None:
    anonymous = httpx.request(method, door.stack.url + path, json=body, timeout=30)
    assert anonymous.status_code == 401
    assert anonymous.headers["www-authenticate"].startswith("Bearer")
    assert codes(anonymous) == {"UNAUTHENTICATED"}
    with door.limited("policy:read") as weak, door.limited(scope) as fit:
        refused = weak.http.request(method, path, json=body)
        assert (refused.status_code, codes(refused)) == (403, {"FORBIDDEN"})
        assert f"needs the scope {scope}" in refused.json()["errors"][0]["description"]
        assert fit.http.request(method, path, json=body).status_code not in {401, 403}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Basic dXNlcjpwYXNz",
        "Bearer lily_forged",
        "Bearer " + "x" * 4000,
        "Bearer a b",
        "Bearer \xff",
    ],
)
def test_a_token_that_is_none_is_refused(stack: Stack, header: str) -> None:
    for path in ("/metadata", "/metadata/0b1c2d3e-0000-4000-8000-000000000000"):
        answer = httpx.get(stack.url + path, headers={b"Authorization": header.encode("latin-1")}, timeout=30)
        assert answer.status_code == 401
        assert codes(answer) == {"UNAUTHENTICATED"}


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/docs", "/openapi.json", "/"])
def test_some_paths_need_no_token(stack: Stack, path: str) -> None:
    assert httpx.get(stack.url + path, timeout=30).status_code == 200


def test_an_expired_token_is_refused(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    with door.limited("metadata:read", ttl_seconds=2) as brief:
        assert brief.http.get(f"/metadata/{asset_id}").status_code == 200
        time.sleep(2.1)
        assert brief.http.get(f"/metadata/{asset_id}").status_code == 401


def test_a_revoked_token_is_refused_at_once(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    with door.limited("metadata:read") as doomed:
        assert doomed.http.get(f"/metadata/{asset_id}").status_code == 200
        revoke_token(door.stack.database, *door.token_ids("limited"))
        deadline = time.monotonic() + 3  # well below what a remembered token would live
        while doomed.http.get(f"/metadata/{asset_id}").status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert doomed.http.get(f"/metadata/{asset_id}").status_code == 401


def test_another_tenants_asset_does_not_exist(door: Door, other_door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    http = other_door.http
    assert http.get(f"/metadata/{asset_id}").status_code == 404
    assert http.get(f"/metadata/{asset_id}/history").status_code == 404
    assert http.get(f"/metadata/{asset_id}/tags").status_code == 404
    assert http.put(f"/metadata/{asset_id}", json={"attributes": {"owner": "thief"}}).status_code == 404
    assert http.delete(f"/metadata/{asset_id}").status_code == 404
    assert http.post(f"/metadata/{asset_id}/restore").status_code == 404
    assert http.post(f"/metadata/{asset_id}/tags", json={"tag": "PII"}).status_code == 404
    assert http.post("/metadata/batch-get", json={"ids": [asset_id]}).json() == {
        "items": [],
        "missing": [asset_id],
        "denied": [],
        "next_cursor": None,
    }
    assert http.get("/metadata").json()["items"] == []


def test_the_same_name_is_another_asset_in_another_tenant(door: Door, other_door: Door) -> None:
    mine, theirs = door.ingest("shop.orders", owner="me"), other_door.ingest("shop.orders", owner="they")
    assert mine != theirs
    assert door.read("shop.orders")["attributes"]["owner"] == "me"
    assert other_door.read("shop.orders")["attributes"]["owner"] == "they"


def test_an_admin_token_may_do_everything_in_its_tenant(door: Door) -> None:
    with client(door.stack, door.token) as http:
        assert http.get("/metadata").status_code == 200
        assert http.get("/metrics").status_code == 200
