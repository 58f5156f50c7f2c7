"""What the API denies and allows on its own plane is in the log of decisions, as the tenant chooses."""

import time
from typing import Any

from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door, table
from tests.contract.flows import connect

ALL = ("metadata:read", "metadata:write", "lineage:read", "lineage:write")
MARKER = "end.of.test"  # decisions are written in order, so once this one is in the log, those before it are


def restricted(door: Door, **settings: Any) -> None:
    """`vault` is denied to bob; `shop.orders` is not."""
    door.ingest("vault")
    door.ingest("shop.orders")
    door.ingest(MARKER)
    fields = {"id": "closed", "actions": ["READ", "WRITE", "DELETE"], "applies_to": ["metadata"]}
    create(door, "/policies", policy({"user": "bob"}, {"asset": "vault"}, "deny", **fields))
    if settings:
        assert door.http.put("/settings", json=settings).status_code == 200


def logged(door: Door, principal: str = "bob") -> list[tuple[str, str, str | None]]:
    """Action, effect and policy of the principal's decisions, oldest first."""
    marker = door.read(MARKER)["metadata_id"]
    check = {"principal": principal, "action": "READ", "asset_id": marker}
    assert door.http.put("/settings", json={"decision_log": "all"}).status_code == 200
    assert door.http.post("/policy/check", json={"checks": [check]}).status_code == 200
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        items = door.http.get("/policy/decisions", params={"principal": principal, "limit": 1000}).json()["items"]
        if any(item["asset_id"] == marker for item in items):
            assert {item["plane"] for item in items if item["asset_id"] != marker} <= {"metadata"}
            return [
                (item["action"], item["effect"], item["policy_id"])
                for item in reversed(items)
                if item["asset_id"] != marker
            ]
        time.sleep(0.1)
    raise AssertionError("the marker did not reach the log")


def requests(bob: Door) -> None:
    assert bob.http.get("/metadata/vault").status_code == 403
    assert bob.http.get("/metadata/shop.orders").status_code == 200
    assert bob.http.delete("/metadata/vault").status_code == 403
    assert bob.http.post("/ingest-metadata", json=table("vault"), headers=WAIT).status_code == 403
    assert bob.http.post("/metadata/batch-get", json={"ids": ["vault"]}).json()["items"] == []


DENIED = [
    ("READ", "deny", "closed"),
    ("DELETE", "deny", "closed"),
    ("WRITE", "deny", "closed"),
    ("READ", "deny", "closed"),
]


def test_all_logs_what_is_denied_and_what_is_allowed_to_restricted_callers(door: Door) -> None:
    restricted(door, decision_log="all")
    with door.limited(*ALL, user="bob") as bob, door.limited(*ALL, user="ann") as ann:
        requests(bob)
        assert ann.read("vault")
    expected = [DENIED[0], ("READ", "allow", None), *DENIED[1:]]
    assert logged(door) == expected
    item = door.http.get("/policy/decisions", params={"effect": "deny", "principal": "bob"}).json()["items"][-1]
    assert (item["by"], item["principal"]) == ("bob", "bob")
    assert item["asset_id"] == door.read("vault")["metadata_id"]
    assert item["reason"].endswith("denies READ to user bob, because of the asset itself")
    assert logged(door, "ann") == [], "no policy names ann, so nothing was decided"


def test_sampled_logs_every_denial(door: Door) -> None:
    restricted(door, decision_log="sampled", decision_log_rate=1e-9)
    with door.limited(*ALL, user="bob") as bob:
        requests(bob)
    assert logged(door) == DENIED


def test_off_logs_nothing(door: Door) -> None:
    restricted(door)
    with door.limited(*ALL, user="bob") as bob:
        requests(bob)
    assert logged(door) == []


def test_edges_rows_and_dead_letters_are_logged(door: Door) -> None:
    restricted(door, decision_log="sampled", decision_log_rate=1e-9)
    connect(door, ("shop.orders", "vault"))
    edge = {"from": "shop.orders", "to": "vault", "relationship_type": "used-in"}
    with door.limited(*ALL, user="bob") as bob:
        assert bob.http.post("/lineage", json={"edges": [edge]}).status_code == 403
        rows = [table("vault"), table("shop.orders"), table("vault", owner="x")]
        assert bob.http.post("/ingest-metadata/bulk", json=rows).json()["rejected"] == 2
        assert bob.http.get("/lineage/shop.orders").status_code == 200
        assert bob.http.get("/metadata").status_code == 200  # what a list leaves out is not logged
    assert logged(door) == [("WRITE", "deny", "closed")] * 3 + [("READ", "deny", "closed")]
