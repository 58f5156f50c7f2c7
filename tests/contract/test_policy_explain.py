"""Explanations, dry runs, the past, and the log of decisions."""

import time
from typing import Any

import psycopg
import pytest

from lily.model import clock
from tests.contract.access import Json, check, create, decisions, effect, policy
from tests.contract.door import Door, codes
from tests.contract.flows import connect, propagate
from tests.shared_stack import lily

EVERYONE = {"user": "*"}


def explain(door: Door, principal: Any, asset: str, **fields: Any) -> Json:
    body = {"principal": principal, "action": "READ", "asset_id": asset, **fields}
    answer = door.http.post("/policy/explain", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_an_explanation_shows_policy_role_tag_and_the_tags_path(door: Door) -> None:
    source, target = door.ingest("shop.orders", tags=["PII"]), door.ingest("shop.report")
    connect(door, ("shop.orders", "shop.report"))
    propagate(door)
    create(door, "/roles", {"name": "Analyst", "inherits": ["reader"], "groups": ["bi"]})
    create(door, "/users", {"name": "ann", "groups": ["BI"]})
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}, id="open"))
    create(door, "/policies", policy({"role": "reader"}, {"tag": "PII"}, "deny", id="no-pii", name="No PII"))
    found = explain(door, "ann", "shop.report")
    assert (found["effect"], found["policy_id"], found["known"]) == ("deny", "no-pii", True)
    decisive = next(match for match in found["matches"] if match["decided"])
    assert decisive["via"] == ["user ann", "group bi", "role Analyst", "role reader"]
    assert decisive["resource"] == {"tag": "PII"}
    assert found["tags"] == [
        {
            "tag": "PII",
            "layer": "propagated",
            "path": [source, target],
            "names": ["shop.orders", "shop.report"],
        }
    ]
    assert [match["policy_id"] for match in found["matches"] if match["applies"]] == ["no-pii", "open"]
    assert check(door, "ann", "shop.report")["reason"] == found["reason"]
    unknown = explain(door, "ann", "nowhere")
    assert (unknown["known"], unknown["effect"], unknown["tags"]) == (False, "deny", [])


def test_the_command_explains_over_the_api(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.ingest("shop.orders", tags=["PII"])
    create(door, "/policies", policy({"user": "ann"}, {"tag": "pii"}, "deny", id="no-pii"))
    monkeypatch.setenv("LILY_URL", door.stack.url)
    monkeypatch.setenv("LILY_TOKEN", door.token)
    done = lily("policy", "explain", "ann", "shop.orders", data_dir=door.stack.data_dir)
    assert done.returncode == 0, done.stderr
    assert '"policy_id": "no-pii"' in done.stdout


def dry_run(door: Door, **body: Any) -> Json:
    answer = door.http.post("/policy/dry-run", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def summary(found: Json) -> list[tuple[str, str, str]]:
    return sorted((item["user"], item["qualified_name"], item["change"]) for item in found["items"])


def test_a_dry_run_reports_who_gains_and_who_loses_by_a_policy(door: Door) -> None:
    door.ingest("shop.orders", tags=["PII"])
    door.ingest("shop.items")
    for name, roles in (("ann", ["reader"]), ("bob", ["reader"]), ("eve", [])):
        create(door, "/users", {"name": name, "roles": roles})
    allow = create(door, "/policies", policy({"role": "reader"}, {"entity_type": "table"}, id="readers"))
    deny = policy({"user": "BOB"}, {"tag": "pii"}, "deny")
    assert summary(dry_run(door, policies=[deny])) == [("bob", "shop.orders", "loses")]
    masked = dry_run(door, policies=[policy(EVERYONE, {"tag": "pii"}, "mask", mask="replace-with-null")])
    assert summary(masked) == [("ann", "shop.orders", "changes"), ("bob", "shop.orders", "changes")]
    removed = dry_run(door, delete_policies=["READERS"])
    assert (removed["loses"], removed["gains"], removed["users"], removed["assets"]) == (4, 0, 3, 2)
    assert removed["cut"] == []
    widened = dry_run(door, policies=[allow | {"subjects": [EVERYONE]}], assets=["shop.items"])
    assert summary(widened) == [("eve", "shop.items", "gains")]
    assert effect(door, "bob", "shop.orders") == "allow"  # nothing was changed


def test_a_dry_run_follows_roles_and_tags(door: Door) -> None:
    door.ingest("shop.orders")
    door.ingest("shop.report")
    connect(door, ("shop.orders", "shop.report"))
    create(door, "/roles", {"name": "analyst", "inherits": ["reader"]})
    create(door, "/users", {"name": "ann", "roles": ["analyst"]})
    create(door, "/policies", policy({"role": "reader"}, {"asset": "*"}))
    create(door, "/policies", policy({"user": "ann"}, {"tag": "PII"}, "deny"))
    both = [("ann", "shop.orders", "loses"), ("ann", "shop.report", "loses")]
    assert summary(dry_run(door, roles=[{"name": "Analyst"}])) == both
    assert summary(dry_run(door, delete_roles=["analyst"])) == both
    assert summary(dry_run(door, tags=[{"asset": "shop.orders", "add": ["pii"]}])) == both
    cycle = door.http.post("/policy/dry-run", json={"roles": [{"name": "reader", "inherits": ["analyst"]}]})
    assert (cycle.status_code, codes(cycle)) == (409, {"ROLE_CYCLE"})
    bad: tuple[Json, ...] = ({}, {"polices": []}, {"policies": [{}]}, {"users": ["ann"]})
    for body in bad:
        assert door.http.post("/policy/dry-run", json=body).status_code == 400
    assert door.http.post("/policy/dry-run", json={"delete_roles": ["nobody"]}).status_code == 404


def as_of(door: Door, principal: str, asset: str, at: str, patience: float = 60) -> Any:
    """The lake records what happened a moment later."""
    deadline = time.monotonic() + patience
    checks = [{"principal": principal, "action": "READ", "asset_id": asset}]
    while True:
        answer = door.http.post("/policy/check", json={"checks": checks, "as_of": at})
        if answer.status_code != 503 or time.monotonic() > deadline:
            return answer
        time.sleep(0.2)


def test_the_past_is_decided_by_the_policies_roles_users_and_tags_of_then(door: Door) -> None:
    before_all = clock.now()
    door.ingest("shop.orders", tags=["Draft"])
    create(door, "/policies", policy({"role": "reader"}, {"asset": "*"}, id="readers"))
    create(door, "/policies", policy(EVERYONE, {"tag": "Draft"}, "deny", id="no-drafts"))
    create(door, "/users", {"name": "ann", "roles": ["reader"]})
    drafted = clock.now()
    door.ingest("shop.orders", tags=["Done"])
    released = clock.now()
    door.http.put("/users/ann", json={"roles": []})
    left = clock.now()
    door.http.delete("/policies/readers")
    found = []
    for at in (before_all, drafted, released, left):
        answer = as_of(door, "ann", "shop.orders", at)
        assert answer.status_code == 200, answer.text
        found.append((answer.json()["decisions"][0]["effect"], answer.json()["decisions"][0]["policy_id"]))
    assert found == [("deny", None), ("deny", "no-drafts"), ("allow", "readers"), ("deny", None)]
    assert effect(door, "ann", "shop.orders") == "deny"


def test_the_past_is_not_guessed_where_a_propagated_tag_could_matter(door: Door) -> None:
    for name in ("shop.orders", "shop.report", "shop.alone"):
        door.ingest(name)
    connect(door, ("shop.orders", "shop.report"))
    create(door, "/policies", policy({"user": "ann"}, {"asset": "*"}))
    create(door, "/policies", policy({"user": "ann"}, {"tag": "PII"}, "mask", mask="show-last-4"))
    now = clock.now()
    refused = as_of(door, "ann", "shop.report", now)
    assert (refused.status_code, codes(refused)) == (422, {"DERIVED_TAGS_NOT_RECORDED"})
    assert as_of(door, "ann", "shop.alone", now).json()["decisions"][0]["effect"] == "allow"
    assert as_of(door, "bob", "shop.report", now).json()["decisions"][0]["effect"] == "deny"


def test_the_past_before_the_kept_history_is_refused(door: Door) -> None:
    door.ingest("shop.orders")
    create(door, "/policies", {"id": "p", **policy({"user": "ann"}, {"asset": "*"})})
    before = clock.now()
    assert door.http.delete("/policies/p").status_code == 200
    until_now = clock.now()
    assert as_of(door, "ann", "shop.orders", before).json()["decisions"][0]["effect"] == "allow"
    with psycopg.connect(door.stack.database) as connection:
        # As if the rest of the history were older.
        connection.execute("delete from access_history where tenant_id = %s and valid_to is not null", [door.tenant])
        connection.execute(
            "update access_versions set history_from = %s where tenant_id = %s", [until_now, door.tenant]
        )
    refused = as_of(door, "ann", "shop.orders", before)
    assert (refused.status_code, codes(refused)) == (422, {"HISTORY_NOT_KEPT"})
    assert until_now in refused.json()["errors"][0]["description"]
    assert as_of(door, "ann", "shop.orders", until_now).json()["decisions"][0]["effect"] == "deny"


def test_decisions_are_logged_as_the_tenant_chooses(door: Door, other_door: Door) -> None:
    door.ingest("shop.orders")
    effect(door, "ann", "shop.orders")
    door.http.put("/settings", json={"decision_log": "all"})
    checks = [{"principal": user, "action": "READ", "asset_id": "shop.orders"} for user in ("ann", "bob", "ann")]
    decisions(door, checks)
    deadline = time.monotonic() + 30
    while len(logged := door.http.get("/policy/decisions").json()["items"]) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sorted(item["principal"] for item in logged) == ["ann", "ann", "bob"]
    assert {(item["by"], item["effect"], item["plane"]) for item in logged} == {("tester", "deny", "data")}
    seen, cursor = [], ""
    while cursor is not None:
        params: Json = {"principal": "ann", "limit": 1} | ({"cursor": cursor} if cursor else {})
        page = door.http.get("/policy/decisions", params=params).json()
        seen += page["items"]
        cursor = page["next_cursor"]
    assert [item["id"] for item in seen] == [item["id"] for item in logged if item["principal"] == "ann"]
    assert door.http.get("/policy/decisions", params={"effect": "allow"}).json()["items"] == []
    assert other_door.http.get("/policy/decisions").json()["items"] == []
