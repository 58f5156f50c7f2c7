"""`POST /policy/check`: decisions by policies, roles, tags, conditions and unknown objects, in batches."""

import functools
from typing import Any

import pytest

from tests.contract.access import check, create, decisions, effect, policy
from tests.contract.door import Door, codes
from tests.contract.flows import connect, propagate

DEEP: dict[str, Any] = functools.reduce(lambda inner, _: {"a": inner}, range(300), {})


def test_the_data_plane_denies_and_the_metadata_plane_allows_what_no_policy_mentions(door: Door) -> None:
    door.ingest("shop.orders")
    assert check(door, "ann", "shop.orders") == {
        "effect": "deny",
        "policy_id": None,
        "reason": "no policy allows READ of its data",
    }
    assert effect(door, "ann", "shop.orders", plane="metadata") == "allow"


def test_a_user_reads_by_a_role_that_a_group_holds_and_that_inherits(door: Door) -> None:
    asset = door.ingest("shop.orders")
    create(door, "/roles", {"name": "analyst", "inherits": ["reader"], "groups": ["BI team"]})
    create(door, "/users", {"name": "ann", "groups": ["bi TEAM"]})
    made = create(door, "/policies", policy({"role": "reader"}, {"asset": "shop.orders"}))
    for reference in ("shop.orders", asset, asset.upper()):
        assert check(door, "Ann", reference)["policy_id"] == made["id"]
    assert effect(door, {"user": "bob", "groups": ["bi team"]}, asset) == "allow"
    assert effect(door, {"roles": ["Reader"]}, asset) == "allow"
    assert effect(door, "bob", asset) == "deny"
    assert effect(door, "ann", asset, "WRITE") == "deny"


def test_a_change_takes_effect_with_the_next_check(door: Door) -> None:
    door.ingest("shop.orders")
    create(door, "/users", {"name": "ann"})
    create(door, "/policies", policy({"role": "reader"}, {"entity_type": "table"}))
    assert effect(door, "ann", "shop.orders") == "deny"
    door.http.put("/users/ann", json={"roles": ["reader"]})
    assert effect(door, "ann", "shop.orders") == "allow"
    denied = create(door, "/policies", policy({"user": "ann"}, {"asset": "shop.orders"}, "deny"))
    assert effect(door, "ann", "shop.orders") == "deny"
    door.http.delete(f"/policies/{denied['id']}")
    assert effect(door, "ann", "shop.orders") == "allow"
    door.http.delete("/users/ann")
    assert effect(door, "ann", "shop.orders") == "deny"


def test_tags_count_wherever_they_come_from(door: Door) -> None:
    """Stated, inherited from the schema, propagated along an edge, and on a column that only the lake has."""
    door.ingest("shop", "schema", tags=["Finance"])
    door.ingest("shop.orders", parent="shop", tags=["PII"])
    door.ingest("shop.report")
    door.ingest("shop.other")
    door.ingest("depot.other")
    connect(door, ("shop.orders", "shop.report"))
    propagate(door)
    everyone = {"user": "*"}
    create(door, "/policies", policy(everyone, {"asset": "*"}))
    create(door, "/policies", policy(everyone, {"tag": "pii"}, "mask", mask="show-last-4"))
    finance = create(door, "/policies", policy({"user": "eve"}, {"tag": "FINANCE"}, "deny"))
    masked = check(door, "ann", "shop.orders")
    assert (masked["effect"], masked["mask"]) == ("mask", "show-last-4")
    assert effect(door, "ann", "shop.report") == "mask"
    assert effect(door, "ann", "shop.orders.email") == "mask"  # a column that is not in PostgreSQL
    assert effect(door, "ann", "shop.other") == "allow"
    assert check(door, "eve", "shop.orders.email")["policy_id"] == finance["id"]
    assert effect(door, "eve", "shop.other") == "deny"  # its name is below the schema, whatever parent was stated
    assert effect(door, "eve", "depot.other") == "allow"


def test_a_policy_on_an_asset_covers_its_descendants(door: Door) -> None:
    door.ingest("shop", "database")
    door.ingest("shop.public", "schema", parent="shop")
    door.ingest("shop.public.orders", parent="shop.public", data_source="postgres")
    create(door, "/policies", policy({"user": "ann"}, {"asset": "SHOP"}))
    create(door, "/policies", policy({"user": "bob"}, {"data_source": "Postgres"}))
    assert effect(door, "ann", "shop.public.orders") == "allow"
    assert effect(door, "ann", "shop.public.orders.total") == "allow"
    assert effect(door, "bob", "shop.public.orders.total") == "allow"
    assert effect(door, "bob", "shop.public") == "deny"


def test_objects_that_are_not_in_the_catalogue_are_decided_by_the_tenants_setting(door: Door) -> None:
    create(door, "/policies", policy({"user": "*"}, {"asset": "*"}))
    create(door, "/policies", policy({"user": "bob"}, {"asset": "nowhere.table"}, "deny"))
    closed = check(door, "ann", "nowhere.table")
    assert (closed["effect"], closed["policy_id"]) == ("deny", None)
    assert "unknown_objects is closed" in closed["reason"]
    door.http.put("/settings", json={"unknown_objects": "open"})
    assert effect(door, "ann", "nowhere.table") == "allow"
    assert effect(door, "bob", "NOWHERE.table") == "deny"
    assert effect(door, "carl", "00000000-0000-8000-8000-000000000000") == "allow"


def test_an_asset_is_found_by_its_name_in_any_case_and_of_two_the_stricter_decision_holds(door: Door) -> None:
    door.http.put("/settings", json={"unknown_objects": "open"})
    everyone = {"user": "*"}
    create(door, "/policies", policy(everyone, {"asset": "*"}))
    create(door, "/policies", policy(everyone, {"tag": "PII"}, "deny", id="no-pii"))
    door.ingest("shop.Orders", tags=["PII"])
    for name in ("SHOP.ORDERS", "shop.orders", "Shop.orders.EMAIL"):
        assert check(door, "ann", name)["policy_id"] == "no-pii", name
    door.ingest("shop.orders")
    assert effect(door, "ann", "shop.orders") == "deny"  # also as written: anybody may ingest another spelling
    assert effect(door, "ann", "SHOP.ORDERS") == "deny"
    assert effect(door, "ann", "SHOP.orders.total") == "deny"
    explained = door.http.post(
        "/policy/explain", json={"principal": "ann", "action": "READ", "asset_id": "SHOP.ORDERS"}
    ).json()
    assert (explained["policy_id"], explained["qualified_name"]) == ("no-pii", "shop.Orders")
    assert effect(door, "ann", "SHOP.items") == "allow"


def test_row_filters_narrow_and_are_combined(door: Door) -> None:
    door.ingest("shop.orders")
    everyone = {"user": "*"}
    filters = ("region = 'EU'", "amount < 100")
    for text in filters:
        create(door, "/policies", policy(everyone, {"asset": "shop.orders"}, "row-filter", row_filter=text))
    assert effect(door, "ann", "shop.orders") == "deny"
    create(door, "/policies", policy(everyone, {"asset": "*"}))
    found = check(door, "ann", "shop.orders")
    assert found["effect"] == "row-filter"
    assert all(f"({text})" in found["row_filter"] for text in filters)


def test_conditions_depend_on_the_context_of_the_check_and_fail_closed_without_it(door: Door) -> None:
    door.ingest("shop.orders", owner="carol")
    conditions = {"purpose": "audit", "networks": ["10.0.0.0/8"], "time": {"from": "08:00", "to": "18:00"}}
    create(door, "/policies", policy({"user": "ann"}, {"asset": "*"}, conditions=conditions))
    create(
        door,
        "/policies",
        policy({"user": "bob"}, {"asset": "*"}, conditions={"attributes": {"asset": {"owner": "carol"}}}),
    )
    there = {"purpose": "Audit", "address": "10.1.2.3", "time": "2026-03-03T09:00:00Z"}
    assert effect(door, "ann", "shop.orders", context=there) == "allow"
    for missing in there:
        assert effect(door, "ann", "shop.orders", context=there | {missing: None}) in (
            {"allow", "deny"} if missing == "time" else {"deny"}
        )
    assert effect(door, "ann", "shop.orders", context=there | {"time": "2026-03-03T19:00:00Z"}) == "deny"
    assert effect(door, "bob", "shop.orders") == "allow"
    assert effect(door, "bob", "shop.orders.total") == "deny"  # its attributes are not known


def test_a_batch_is_decided_in_order(door: Door) -> None:
    names = [f"shop.t{number}" for number in range(5)]
    for name in names:
        door.ingest(name)
    create(door, "/policies", policy({"user": "ann"}, {"asset": names[3]}))
    checks = [
        {"principal": user, "action": "read", "asset_id": names[number % 5]}
        for number in range(2_000)
        for user in ("ann", "bob", {"user": "ANN"})
    ]
    found = [decision["effect"] for decision in decisions(door, checks)]
    assert found == [
        "allow" if number % 5 == 3 and user != "bob" else "deny"
        for number in range(2_000)
        for user in ("ann", "bob", "ANN")
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ([], "INVALID_TYPE"),
        ({}, "INVALID_TYPE"),
        ({"checks": []}, "INVALID_TYPE"),
        ({"checks": [{}] * 10_001}, "INVALID_TYPE"),
        ({"check": []}, "UNKNOWN_FIELD"),
        ({"checks": ["ann"]}, "INVALID_TYPE"),
        ({"checks": [{"principal": "a", "action": "READ", "asset_id": "x", "asset": "y"}]}, "UNKNOWN_FIELD"),
        ({"checks": [{"principal": "a", "action": "SELECT", "asset_id": "x"}]}, "INVALID_VALUE"),
        ({"checks": [{"principal": "a", "action": ["READ"], "asset_id": "x"}]}, "INVALID_VALUE"),
        ({"checks": [{"principal": "a", "asset_id": "x"}]}, "INVALID_VALUE"),
        ({"checks": [{"principal": "", "action": "READ", "asset_id": "x"}]}, "INVALID_VALUE"),
        ({"checks": [{"principal": {}, "action": "READ", "asset_id": "x"}]}, "MISSING_FIELD"),
        ({"checks": [{"principal": {"name": "a"}, "action": "READ", "asset_id": "x"}]}, "UNKNOWN_FIELD"),
        ({"checks": [{"principal": {"groups": "a"}, "action": "READ", "asset_id": "x"}]}, "INVALID_TYPE"),
        ({"checks": [{"principal": 1, "action": "READ", "asset_id": "x"}]}, "INVALID_TYPE"),
        ({"checks": [{"principal": "a", "action": "READ", "asset_id": 1}]}, "INVALID_TYPE"),
        ({"checks": [{"principal": "a", "action": "READ", "asset_id": "x", "plane": "air"}]}, "INVALID_VALUE"),
        ({"checks": [{"principal": {"attributes": DEEP}, "action": "READ", "asset_id": "x"}]}, "INVALID_VALUE"),
        ({"checks": [{"principal": "a", "action": "READ", "asset_id": "x", "context": DEEP}]}, "INVALID_VALUE"),
        (
            {"checks": [{"principal": "a", "action": "READ", "asset_id": "x", "context": {"address": "home"}}]},
            "INVALID_VALUE",
        ),
        (
            {"checks": [{"principal": "a", "action": "READ", "asset_id": "x", "context": {"time": "noon"}}]},
            "INVALID_TIME",
        ),
        (
            {"checks": [{"principal": "a", "action": "READ", "asset_id": "x"}], "as_of": "yesterday"},
            "INVALID_TIME",
        ),
    ],
)
def test_a_check_that_is_not_one_is_refused(door: Door, body: Any, code: str) -> None:
    answer = door.http.post("/policy/check", json=body)
    assert answer.status_code == 400, answer.text
    assert code in codes(answer)


def test_checking_needs_policy_read(door: Door) -> None:
    with door.limited("metadata:read", "enforce:read") as stranger:
        for path in ("/policy/check", "/policy/explain", "/policy/dry-run"):
            answer = stranger.http.post(path, json={})
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
        assert stranger.http.get("/policy/decisions").status_code == 403
