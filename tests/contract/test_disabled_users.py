"""Administrators disable and enable users over REST, and every change of who may use Lily is in the audit."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from lily.store.postgres.access.administration import create_token, revoke_token
from lily.store.postgres.access.users import disable_user, enable_user
from tests.contract.access import check, create, effect, policy
from tests.contract.door import Door, client, codes
from tests.shared_stack import lily


def audited(door: Door, kind: str) -> list[tuple[Any, ...]]:
    """Who did what to which user or token, in order; each within the last minutes."""
    asked = "select principal, action, entity, detail, at from audit where tenant_id = %s and action ^@ %s order by id"
    with psycopg.connect(door.stack.database) as connection:
        rows = connection.execute(asked, [door.tenant, kind]).fetchall()
    assert all(datetime.now(UTC) - at < timedelta(minutes=10) for *_, at in rows)
    return [tuple(row[:4]) for row in rows]


def test_a_disabled_user_is_out_until_enabled_again(door: Door) -> None:
    with door.limited("metadata:read", user="Zoë") as zoe, door.limited("metadata:read", user="ann") as ann:
        assert zoe.http.get("/metadata").status_code == 200
        answer = door.http.post("/users/ZOË/disable")
        assert answer.json() == {"status": "success", "name": "ZOË", "disabled": True, "changed": True}
        assert zoe.http.get("/metadata").status_code == 401
        assert ann.http.get("/metadata").status_code == 200
        assert door.http.post("/users/zoë/disable").json()["changed"] is False
        state = door.http.get("/users/zoë/disable").json()
        assert (state["disabled"], state["since"] is None) == (True, False)
        assert door.http.delete("/users/zoë/disable").json()["changed"] is True
        assert zoe.http.get("/metadata").status_code == 200
        assert door.http.delete("/users/zoë/disable").json()["changed"] is False
        assert door.http.get("/users/zoë/disable").json() == {"name": "zoë", "disabled": False, "since": None}
    assert audited(door, "user.") == [
        ("tester", "user.disabled", "zoë", {"name": "ZOË"}),
        ("tester", "user.enabled", "zoë", {"name": "zoë"}),
    ]


@pytest.mark.parametrize("unknown_objects", ["closed", "open"])
@pytest.mark.parametrize("stored", [True, False])
def test_engines_deny_a_disabled_user_everything(door: Door, *, stored: bool, unknown_objects: str) -> None:
    door.ingest("shop.orders")
    create(door, "/policies", policy({"user": "*"}, {"asset": "*"}))
    door.http.put("/settings", json={"unknown_objects": unknown_objects})
    if stored:
        create(door, "/users", {"name": "Zoe"})
    before = [effect(door, "zoe", asset) for asset in ("shop.orders", "shop.unknown")]
    assert before == ["allow", "allow" if unknown_objects == "open" else "deny"]
    assert door.http.post("/users/Zoe/disable").status_code == 200
    for asset in ("shop.orders", "shop.unknown"):
        decided = check(door, "ZOE", asset)
        assert (decided["effect"], decided["reason"]) == ("deny", "the user is disabled")
        explained = door.http.post("/policy/explain", json={"principal": "zoe", "action": "READ", "asset_id": asset})
        assert explained.json()["reason"] == "the user is disabled"
    assert effect(door, "ann", "shop.orders") == "allow"
    door.http.delete("/users/zoe/disable")
    assert [effect(door, "zoe", asset) for asset in ("shop.orders", "shop.unknown")] == before


def test_a_user_of_another_tenant_stays_in(door: Door, other_door: Door) -> None:
    with other_door.limited("metadata:read", user="zoe") as zoe:
        assert door.http.post("/users/zoe/disable").status_code == 200
        assert zoe.http.get("/metadata").status_code == 200
        assert other_door.http.get("/users/zoe/disable").json()["disabled"] is False


@pytest.mark.parametrize(
    "name", ["tester", "TESTER", "%20tester%20", "\uff34ester"]
)  # the last begins with a full-width T
def test_nobody_can_disable_themselves(door: Door, name: str) -> None:
    answer = door.http.post(f"/users/{name}/disable")
    assert (answer.status_code, codes(answer)) == (409, {"OWN_USER"})
    assert door.http.get("/metadata").status_code == 200


def test_compatible_letters_are_the_same_letter(door: Door) -> None:
    """An identity provider may write a name in another form than the one by which a person disables it."""
    with door.limited("metadata:read", user="\uff3aoe") as zoe:  # with a full-width Z
        assert zoe.http.get("/metadata").status_code == 200
        assert door.http.post("/users/zoe/disable").json()["changed"] is True
        assert zoe.http.get("/metadata").status_code == 401


@pytest.mark.parametrize("name", ["%00", "x" * 600])
def test_a_name_that_no_user_can_have_is_refused(door: Door, name: str) -> None:
    assert door.http.post(f"/users/{name}/disable").status_code == 400


def test_a_plain_slash_is_not_part_of_a_name_and_an_encoded_one_is(door: Door) -> None:
    assert door.http.put("/users/zoe/disable", json={}).status_code == 405
    assert door.http.post("/users", json={"name": "zoe/disable"}).status_code == 201
    assert door.http.get("/users/zoe%2Fdisable").json()["name"] == "zoe/disable"
    assert door.http.post("/users/zoe%2Fdisable/disable").json()["name"] == "zoe/disable"
    assert door.http.get("/users/zoe/disable").json()["disabled"] is False


def test_policy_write_alone_does_not_disable(door: Door) -> None:
    with door.limited("policy:write", "policy:read", user="officer") as officer:
        assert officer.http.post("/users/tester/disable").status_code == 403
        assert officer.http.delete("/users/tester/disable").status_code == 403
        assert officer.http.get("/users/tester/disable").status_code == 200


def test_tokens_and_the_commands_are_audited_too(door: Door) -> None:
    database = door.stack.database
    token = create_token(database, door.tenant, ["metadata:read"], "zoe", scraper_group="shop", by="ann")
    (token_id,) = door.token_ids("zoe")
    with client(door.stack, token) as http:
        assert http.get("/metadata").status_code == 200
    assert revoke_token(database, token_id, by="bob")
    assert not revoke_token(database, token_id, by="bob")
    created, revoked = [row for row in audited(door, "token.") if row[2] == token_id]
    assert created[:2] == ("ann", "token.created")
    assert created[3] == {"scopes": ["metadata:read"], "user": "zoe", "expires_at": None, "scraper_group": "shop"}
    assert revoked == ("bob", "token.revoked", token_id, {"scopes": ["metadata:read"], "user": "zoe"})
    assert token not in str(audited(door, ""))
    assert disable_user(database, door.tenant, "zoe")
    assert enable_user(database, door.tenant, "zoe", by="carl")
    assert [row[:3] for row in audited(door, "user.")] == [
        ("owner", "user.disabled", "zoe"),
        ("carl", "user.enabled", "zoe"),
    ]


def test_the_command_line_names_who_ran_it(door: Door) -> None:
    assert lily("user", "disable", "zoe", "--tenant", door.tenant, data_dir=door.stack.data_dir).returncode == 0
    ((by, action, user, _),) = audited(door, "user.")
    assert (by.partition(":")[0], action, user) == ("owner", "user.disabled", "zoe")
