"""The administration of policies, roles, users, scraper policies and engine mappings."""

from typing import Any

import psycopg
import pytest

from tests.contract.access import create, effect, policy
from tests.contract.door import Door, codes
from tests.contract.flows import audit_of
from tests.contract.test_tag_definitions import decisions_of

ALLOW = policy({"role": "reader"}, {"asset": "*"})
OBJECTS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("/policies", "id", ALLOW, ALLOW | {"effect": "deny"}),
    ("/roles", "name", {"name": "Analyst", "inherits": ["reader"]}, {"name": "Analyst", "groups": ["bi"]}),
    ("/users", "name", {"name": "Carol", "roles": ["analyst"]}, {"name": "Carol", "groups": ["bi"]}),
    (
        "/scraper-policies",
        "id",
        {"name": "w", "scraper_group": "wh", "sources": ["warehouse"]},
        {"name": "w", "scraper_group": "wh", "entity_types": ["table"]},
    ),
    (
        "/engine-mappings",
        "id",
        {"name": "m", "data_source": "shop", "engine_name": "pg.public", "asset_name": "shop.public"},
        {"name": "m", "data_source": "shop", "engine_name": "pg.sales", "asset_name": "shop.sales"},
    ),
]


@pytest.mark.parametrize(("path", "identity", "body", "changed"), OBJECTS, ids=[one[0] for one in OBJECTS])
def test_an_object_is_created_replaced_and_deleted_and_each_leaves_a_trace(
    door: Door, path: str, identity: str, body: dict[str, Any], changed: dict[str, Any]
) -> None:
    made = create(door, path, body)
    assert made == made | body
    place = f"{path}/{made[identity].upper()}"
    assert door.http.get(place).json() == made
    assert door.http.get(path).json() == {"items": [made], "next_cursor": None}
    replaced = door.http.put(place, json=changed)
    assert replaced.status_code == 200, replaced.text
    assert replaced.json()[identity] == made[identity]
    assert replaced.json() == replaced.json() | changed == door.http.get(place).json()
    assert door.http.put(place, json=changed).json() == replaced.json()  # nothing new: no change
    assert door.http.delete(place).json()[identity] == made[identity]
    for answer in (door.http.get(place), door.http.put(place, json=changed), door.http.delete(place)):
        assert (answer.status_code, codes(answer)) == (404, {"NOT_FOUND"})
    traces = decisions_of(door)
    assert [(before, after) for _, _, before, after, _ in traces] == [
        (None, made),
        (made, replaced.json()),
        (replaced.json(), None),
    ]
    assert [action.partition(".")[2] for _, action, *_ in audit_of(door)] == ["created", "replaced", "deleted"]
    assert versions_of(door) == [1, 2, 3]


def versions_of(door: Door) -> list[int]:
    """The current version, after all that the history began or ended."""
    with psycopg.connect(door.stack.database) as connection:
        (version,) = connection.execute(
            "select version from access_versions where tenant_id = %s", [door.tenant]
        ).fetchone() or (0,)
        states = connection.execute(
            "select version from access_history where tenant_id = %s order by version", [door.tenant]
        ).fetchall()
        still = connection.execute(
            "select count(*) from access_history where tenant_id = %s and valid_to is null", [door.tenant]
        ).fetchone()
    assert still == (0,)
    return [*(number for (number,) in states), version]


def test_a_policy_takes_the_id_that_it_is_given(door: Door) -> None:
    made = create(door, "/policies", ALLOW | {"id": "Finance/readers"})
    assert made["id"] == "Finance/readers"
    assert door.http.get("/policies/finance%2Freaders").json() == made
    again = door.http.post("/policies", json=ALLOW | {"id": "FINANCE/readers"})
    assert (again.status_code, codes(again)) == (409, {"EXISTS"})
    renamed = door.http.put("/policies/finance%2Freaders", json=ALLOW | {"id": "other"})
    assert (renamed.status_code, codes(renamed)) == (400, {"INVALID_VALUE"})


def test_names_that_differ_only_in_case_are_one(door: Door) -> None:
    create(door, "/roles", {"name": "Straße"})
    create(door, "/users", {"name": "Ann", "roles": ["STRASSE"]})
    create(door, "/policies", policy({"role": "strasse"}, {"asset": "*"}))
    for path, name in (("/roles", "STRASSE"), ("/users", "ANN")):
        assert codes(door.http.post(path, json={"name": name})) == {"EXISTS"}
    door.ingest("shop.orders")
    assert effect(door, "aNN", "shop.orders") == "allow"
    assert door.http.put("/users/ANN", json={"name": "ANN", "roles": []}).json()["name"] == "Ann"  # as first defined
    assert door.http.put("/roles/strasse", json={}).json()["name"] == "Straße"


def test_lists_are_paged_by_name(door: Door) -> None:
    for name in ("b", "C", "a"):
        create(door, "/users", {"name": name})
    seen: list[str] = []
    params: dict[str, Any] = {"limit": 2}
    while params.get("cursor", "") is not None:
        page = door.http.get("/users", params=params).json()
        seen += [item["name"] for item in page["items"]]
        params["cursor"] = page["next_cursor"]
    assert seen == ["a", "b", "C"]
    foreign = door.http.get("/roles", params={"cursor": door.http.get("/users?limit=1").json()["next_cursor"]})
    assert codes(foreign) == {"INVALID_CURSOR"}


def test_roles_that_would_inherit_in_a_circle_are_refused_with_the_circle(door: Door) -> None:
    create(door, "/roles", {"name": "Reader", "inherits": ["guest"]})
    create(door, "/roles", {"name": "analyst", "inherits": ["READER"]})
    for answer in (
        door.http.post("/roles", json={"name": "Guest", "inherits": ["Analyst"]}),
        door.http.put("/roles/reader", json={"inherits": ["analyst"]}),
        door.http.put("/roles/reader", json={"inherits": ["reader"]}),
    ):
        assert answer.status_code in {400, 409}, answer.text
        assert codes(answer) == {"ROLE_CYCLE"}
        assert "eader" in answer.json()["errors"][0]["description"]
    assert door.http.get("/roles/reader").json()["inherits"] == ["guest"]


def test_a_deleted_role_lists_who_still_names_it(door: Door) -> None:
    create(door, "/roles", {"name": "Reader"})
    create(door, "/roles", {"name": "analyst", "inherits": ["reader"]})
    create(door, "/users", {"name": "ann", "roles": ["READER"]})
    create(door, "/policies", ALLOW | {"id": "p1"})
    create(door, "/policies", policy({"role": "other"}, {"asset": "*"}))
    deleted = door.http.delete("/roles/READER").json()
    assert deleted["named_by"] == [
        {"kind": "policy", "name": "p1"},
        {"kind": "role", "name": "analyst"},
        {"kind": "user", "name": "ann"},
    ]
    assert deleted["named_by_count"] == 3
    door.ingest("shop.orders")
    assert effect(door, "ann", "shop.orders") == "allow"  # the policy and the user name it all the same


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/policies", [], "INVALID_TYPE"),
        ("/policies", {}, "MISSING_FIELD"),
        ("/policies", ALLOW | {"efect": "deny"}, "UNKNOWN_FIELD"),
        ("/policies", ALLOW | {"effect": "permit"}, "INVALID_VALUE"),
        ("/policies", ALLOW | {"subjects": [{"user": "a", "role": "b"}]}, "INVALID_TYPE"),
        ("/policies", ALLOW | {"id": ""}, "INVALID_VALUE"),
        ("/policies", ALLOW | {"id": 7}, "INVALID_TYPE"),
        ("/policies", ALLOW | {"conditions": {"networks": ["nowhere"]}}, "INVALID_VALUE"),
        ("/policies", ALLOW | {"effect": "row-filter", "row_filter": "1=1; drop table x"}, "INVALID_ROW_FILTER"),
        ("/policies", ALLOW | {"effect": "row-filter", "row_filter": "a in (select 1)"}, "INVALID_ROW_FILTER"),
        ("/roles", {"name": "r", "inherit": []}, "UNKNOWN_FIELD"),
        ("/roles", {"name": "*"}, "INVALID_VALUE"),
        ("/users", {"name": "a\x00b"}, "INVALID_VALUE"),
        ("/users", {"name": "a", "roles": "reader"}, "INVALID_TYPE"),
        ("/scraper-policies", {"name": "s", "scraper_group": "g"}, "MISSING_FIELD"),
        ("/engine-mappings", {"name": "m", "source": "x"}, "UNKNOWN_FIELD"),
    ],
)
def test_what_states_nothing_legal_is_refused_and_nothing_is_stored(
    door: Door, path: str, body: Any, code: str
) -> None:
    answer = door.http.post(path, json=body)
    assert answer.status_code == 400, answer.text
    assert code in codes(answer)
    assert door.http.get(path).json()["items"] == []


def test_an_unknown_field_comes_with_a_hint(door: Door) -> None:
    answer = door.http.post("/policies", json=ALLOW | {"efect": "deny"})
    assert "did you mean `effect`?" in answer.json()["errors"][0]["description"]


def test_reading_needs_policy_read_and_changing_policy_write(door: Door) -> None:
    with door.limited("metadata:read", "metadata:write", "policy:read") as reader:
        for path, _, body, _ in OBJECTS:
            assert reader.http.get(path).status_code == 200
            for answer in (
                reader.http.post(path, json=body),
                reader.http.put(f"{path}/x", json=body),
                reader.http.delete(f"{path}/x"),
            ):
                assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
    with door.limited("metadata:read") as stranger:
        for path, *_ in OBJECTS:
            assert stranger.http.get(path).status_code == stranger.http.get(f"{path}/x").status_code == 403


def test_another_tenants_objects_are_not_found_and_have_no_effect(door: Door, other_door: Door) -> None:
    create(door, "/users", {"name": "ann", "roles": ["reader"]})
    made = create(door, "/policies", ALLOW | {"id": "p"})
    for one in (door, other_door):
        one.ingest("shop.orders")
    assert effect(door, "ann", "shop.orders") == "allow"
    assert effect(other_door, {"user": "ann", "roles": ["reader"]}, "shop.orders") == "deny"
    for path in (f"/policies/{made['id']}", "/users/ann"):
        assert other_door.http.get(path).status_code == 404
        assert other_door.http.delete(path).status_code == 404
    assert other_door.http.get("/policies").json()["items"] == []
    assert door.http.get("/policies/p").status_code == 200


def test_the_settings_of_decisions_change_alone(door: Door) -> None:
    defaults = {
        "on_delete": "keep",
        "unknown_objects": "closed",
        "decision_log": "off",
        "decision_log_rate": 0.01,
    }
    assert door.http.get("/settings").json() == defaults
    changed = door.http.put("/settings", json={"unknown_objects": "open"})
    assert changed.json() == defaults | {"unknown_objects": "open"}
    assert door.http.put("/settings", json={"decision_log_rate": 0.5, "on_delete": "cut"}).json() == defaults | {
        "unknown_objects": "open",
        "decision_log_rate": 0.5,
        "on_delete": "cut",
    }
    for body in ({}, {"unknown_objects": "ajar"}, {"decision_log_rate": 0}, {"decision_log": "some"}):
        assert door.http.put("/settings", json=body).status_code == 400
