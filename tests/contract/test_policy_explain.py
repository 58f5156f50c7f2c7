"""Explanations, dry runs, and the log of decisions."""

import json
import time
from typing import Any

import pytest

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


def test_the_command_explains_a_user_whose_groups_and_address_come_with_the_request(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.ingest("shop.orders")
    conditions = {"networks": ["10.1.0.0/16"]}
    create(door, "/policies", policy({"group": "guests"}, {"asset": "shop.orders"}, id="vpn", conditions=conditions))
    monkeypatch.setenv("LILY_URL", door.stack.url)
    monkeypatch.setenv("LILY_TOKEN", door.token)
    for more, expected in (([], "deny"), (["--address", "10.1.2.3"], "allow"), (["--address", "10.2.0.1"], "deny")):
        options = ["--group", "Guests", *more]
        done = lily("policy", "explain", "eve", "shop.orders", *options, data_dir=door.stack.data_dir)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["effect"] == expected


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


def test_a_dry_run_reports_that_users_of_the_identity_provider_are_not_compared(door: Door) -> None:
    door.ingest("shop.orders")
    create(door, "/roles", {"name": "reader", "groups": ["bi"]})
    create(door, "/policies", policy({"role": "reader"}, {"asset": "*"}))
    (nobody,) = dry_run(door, delete_roles=["reader"])["cut"]
    assert nobody.startswith("users: there are none under /users")
    (named,) = dry_run(door, delete_roles=["reader"], users=["zoe"])["cut"]
    assert "compared without groups and roles: zoe" in named
    create(door, "/users", {"name": "zoe", "groups": ["bi"]})
    found = dry_run(door, delete_roles=["reader"], users=["Zoe"])
    assert (found["loses"], found["cut"]) == (1, [])


def test_a_dry_run_compares_everything_below_an_asset_that_a_policy_names(door: Door) -> None:
    for name, parent in (("shop", None), ("shop.public", "shop"), ("shop.public.orders", "shop.public"), ("hr", None)):
        door.ingest(name, **({"parent": parent} if parent else {}))
    create(door, "/users", {"name": "ann"})
    found = dry_run(door, policies=[policy({"user": "ann"}, {"asset": "shop"})])
    assert summary(found) == [("ann", name, "gains") for name in ("shop", "shop.public", "shop.public.orders")]


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


def test_a_dry_run_compares_at_the_time_that_it_names(door: Door) -> None:
    door.ingest("shop.orders")
    create(door, "/users", {"name": "ann"})
    night = {"time": {"from": "22:00", "to": "06:00", "timezone": "UTC"}}
    create(door, "/policies", policy({"user": "ann"}, {"asset": "*"}))
    denied = policy({"user": "ann"}, {"asset": "*"}, "deny", conditions=night)
    at_noon = dry_run(door, policies=[denied], assets=["shop.orders"], time="2026-03-03T13:00:00+01:00")
    at_night = dry_run(door, policies=[denied], assets=["shop.orders"], time="2026-03-03T23:30:00Z")
    assert (summary(at_noon), summary(at_night)) == ([], [("ann", "shop.orders", "loses")])
    for wrong in ("noon", 12, "2026-03-03T12:00:00"):
        answer = door.http.post("/policy/dry-run", json={"policies": [denied], "time": wrong})
        assert answer.status_code == 400, answer.text


def test_a_dry_run_follows_a_tag_along_edges_and_down_the_hierarchy_when_it_comes_and_when_it_goes(door: Door) -> None:
    """shop has orders and items; orders and other flow into report."""
    door.ingest("shop", "schema")
    for name in ("shop.orders", "shop.items"):
        door.ingest(name, parent="shop")
    for name in ("other", "report"):
        door.ingest(name)
    connect(door, ("shop.orders", "report"), ("other", "report"))
    create(door, "/users", {"name": "ann"})
    create(door, "/policies", policy({"user": "ann"}, {"asset": "*"}))
    create(door, "/policies", policy({"user": "ann"}, {"tag": "PII"}, "deny"))
    create(door, "/policies", policy({"user": "ann"}, {"tag": "Finance"}, "mask", mask="replace-with-null"))
    propagate(door)
    below = ["shop", "shop.items", "shop.orders"]

    def changed(tags: list[Json], **fields: Any) -> dict[str, list[str]]:
        found = dry_run(door, tags=tags, **fields)
        assert found["cut"] == []
        assert found["assets"] >= len(found["items"])
        return {
            kind: sorted(item["qualified_name"] for item in found["items"] if item["change"] == kind)
            for kind in ("gains", "loses", "changes")
            if found[kind]
        }

    assert changed([{"asset": "shop", "add": ["PII"]}]) == {"loses": ["report", *below]}
    assert changed([{"asset": "shop", "add": ["Finance"]}]) == {"changes": below}  # it does not propagate
    assert changed([{"asset": "shop", "add": ["PII"]}], assets=["report"]) == {"loses": ["report"]}
    for origin in ("shop", "other"):
        door.change("POST", f"/metadata/{origin}/tags", {"tag": "PII"})
    propagate(door)
    assert changed([{"asset": "shop", "remove": ["PII"]}]) == {"gains": below}  # report has it from other as well
    both = [{"asset": origin, "remove": ["PII"]} for origin in ("shop", "other")]
    assert changed(both) == {"gains": ["other", "report", *below]}
    door.change("POST", "/metadata/shop.orders/tags/PII/suppress", {"reason": "tokenised"})
    propagate(door)
    assert changed(both) == {"gains": ["other", "report", "shop", "shop.items"]}
    assert changed([{"asset": "shop.orders", "add": ["PII"]}]) == {"loses": ["shop.orders"]}


def test_a_dry_run_reports_the_tags_that_it_did_not_follow(door: Door) -> None:
    door.ingest("shop", "schema")
    door.ingest("shop.orders", parent="shop")
    create(door, "/users", {"name": "ann"})
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}))
    tags = [f"t{number:02}" for number in range(21)]
    denied = policy(EVERYONE, {"tag": "t00"}, "deny") | {"resources": [{"tag": tag} for tag in tags]}
    create(door, "/policies", denied)
    found = dry_run(door, tags=[{"asset": "shop", "add": tags}])
    assert summary(found) == [("ann", "shop", "loses"), ("ann", "shop.orders", "loses")]
    (cut,) = found["cut"]
    assert cut.startswith(f"tags: only {', '.join(tags[:20])} were followed")


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
