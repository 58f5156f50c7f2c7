"""A PII tag that is set through the API changes what people see in a real PostgreSQL database."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.access import create, policy
from tests.contract.door import Door, client, codes
from tests.contract.shop import shop_door
from tests.enforcers.target import OWNER, PASSWORD, Target, make_roles
from tests.postgres_server import Server, postgres_server
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it waits for a database to be brought in line again and again

PATIENCE_SECONDS = 90.0
EMAIL = "ann.mueller@example.org"
MASKED = "select count(email) from shop_masked.customers"  # a masked one is null
CLEAR = "select email from shop.customers where id = 1"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres_server() as found:
        make_roles(found)
        yield found


@pytest.fixture
def shop(server: Server) -> Iterator[Target]:
    with Target.made(server) as found:
        yield found


@pytest.fixture
def door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    """Analysts read the shop, with personal data masked; HR reads it in the clear."""
    with shop_door(stack, make_tenant) as made:
        made.ingest("shop.customers", data_source="shop")
        made.ingest("crm.people")
        create(
            made, "/policies", policy({"user": "ann"}, {"tag": "PII"}, "mask", mask="replace-with-null", name="mask")
        )
        yield made


def added(door: Door, shop: Target, **fields: Any) -> dict[str, Any]:
    """Adds the database as the target `shop`, and waits until it is in line."""
    mapping = {"name": "shop", "data_source": "shop", "engine_name": f"{shop.database}.shop", "asset_name": "shop"}
    create(door, "/engine-mappings", mapping)
    create(door, "/enforcement-targets", {"name": "Shop", "type": "postgres", "config": shop.settings()} | fields)
    return until(door, lambda target: target["state"] == "in line")


def until(door: Door, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done(found := door.http.get("/enforcement-targets/shop").json()):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return dict(found)


def eventually(look: Callable[[], Any], expected: Any) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := look()) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def receipts(door: Door, **wanted: str) -> list[dict[str, Any]]:
    answer = door.http.get("/enforcements", params=wanted)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def test_a_tag_on_an_upstream_table_masks_the_next_query_and_its_receipt_shows_it(door: Door, shop: Target) -> None:
    added(door, shop)
    assert shop.seen("ann", CLEAR) == [(EMAIL,)]
    edge = {"from": "crm.people", "to": "shop.customers", "relationship_type": "derived-from"}
    assert door.http.post("/lineage", json={"edges": [edge]}).status_code in {200, 202}
    tagged = door.http.post("/metadata/crm.people/tags", json={"tag": "PII"})
    eventually(lambda: shop.seen("ann", CLEAR), "refused")
    assert shop.seen("ann", MASKED) == [(0,)]
    assert shop.seen("bob", MASKED) == [(2,)]
    assert shop.seen("Eve O'Neil", MASKED) == "refused"

    eventually(lambda: {one["state"] for one in receipts(door, asset="shop.customers", tag="pii")}, {"confirmed"})
    (receipt,) = receipts(door, asset="shop.customers", tag="pii", target="SHOP")
    assert receipt["requested_at"] <= receipt["confirmed_at"]
    assert receipt["tag"] == "PII"
    written = f"/propagations/{tagged.headers['Lily-Receipt']}"
    eventually(lambda: [one["state"] for one in door.http.get(written).json()["enforcements"]], ["confirmed"])
    (confirmed,) = door.http.get(written).json()["enforcements"]
    assert confirmed["target"] == "Shop"
    assert confirmed["confirmed_at"] is not None

    assert door.http.delete("/metadata/crm.people/tags/PII").status_code in {200, 202}
    eventually(lambda: shop.seen("ann", CLEAR), [(EMAIL,)])
    eventually(lambda: [one["withdrawn"] for one in receipts(door, asset="shop.customers")], [True])


def test_a_policy_reaches_the_target(door: Door, shop: Target) -> None:
    added(door, shop)
    create(door, "/policies", policy({"user": "ann"}, {"asset": "shop.customers"}, "deny", name="no"))
    eventually(lambda: shop.seen("ann", CLEAR), "refused")


def test_a_disabled_user_is_denied_and_an_enabled_one_reads_again(door: Door, shop: Target) -> None:
    added(door, shop)
    assert shop.seen("ann", CLEAR) == [(EMAIL,)]
    assert door.http.post("/users/ANN/disable").status_code == 200
    eventually(lambda: shop.seen("ann", CLEAR), "refused")
    assert shop.seen("ann", MASKED) == "refused"
    assert shop.seen("bob", CLEAR) == [(EMAIL,)]
    assert door.http.delete("/users/ann/disable").status_code == 200
    eventually(lambda: shop.seen("ann", CLEAR), [(EMAIL,)])


def test_a_renamed_table_is_read_by_nobody_until_it_is_in_the_catalogue(door: Door, shop: Target) -> None:
    """It stays as it was decided for its old name, and what it is now called is not in the catalogue."""
    door.change("POST", "/metadata/shop.customers/tags", {"tag": "PII"})
    added(door, shop)
    shop.run("alter table shop.customers rename to buyers", user=OWNER)
    assert shop.seen("ann", "select email from shop.buyers") == "refused"
    assert door.http.post("/enforcement-targets/shop/apply").status_code == 202
    eventually(lambda: shop.seen("bob", "select count(id) from shop.buyers"), "refused")
    door.ingest("shop.buyers", data_source="shop")
    eventually(lambda: shop.seen("bob", "select count(email) from shop_masked.buyers"), [(2,)])


def test_a_role_on_one_side_only_is_reported_and_reads_nothing(door: Door, shop: Target) -> None:
    create(door, "/policies", policy({"role": "auditor"}, {"data_source": "shop"}, name="auditors read"))
    added(door, shop)
    found = until(door, lambda target: "auditors read" in {one["subject"] for one in target["findings"]})
    assert found["state"] == "in line"
    with shop.person("carla"):
        shop.run("grant usage on schema shop to carla; grant select on shop.customers to carla", user=OWNER)
        eventually(lambda: shop.seen("carla", CLEAR), "refused")


def test_what_was_changed_by_hand_is_reported_and_comes_back(door: Door, shop: Target) -> None:
    door.change("POST", "/metadata/shop.customers/tags", {"tag": "PII"})
    added(door, shop)
    assert shop.seen("ann", CLEAR) == "refused"
    shop.run("grant select on shop.customers to ann")
    eventually(lambda: shop.seen("ann", CLEAR), "refused")
    found = until(door, lambda target: bool(target["drifted"]))
    (drifted,) = found["drifted"]
    assert drifted["table"] == f"{shop.database}.shop.customers"
    assert drifted["at"] <= drifted["repaired_at"]
    assert found["receipts"]["waiting"] == 0 < found["receipts"]["confirmed"]
    eventually(lambda: {bool(one["drift_at"]) for one in receipts(door, asset="shop.customers")}, {True})


def test_removing_a_target_leaves_it_as_it_was(door: Door, shop: Target) -> None:
    before = shop.state()
    added(door, shop)
    assert shop.state() != before
    assert door.http.delete("/enforcement-targets/Shop").status_code == 202
    eventually(lambda: door.http.get("/enforcement-targets/shop").status_code, 404)
    assert shop.state() == before
    assert receipts(door) == []


def test_a_plan_of_a_target_that_is_in_line_is_empty(door: Door, shop: Target) -> None:
    added(door, shop)
    before = shop.state()
    plan = door.http.post("/enforcement-targets/shop/plan")
    assert plan.status_code == 200, plan.text
    assert (plan.json()["count"], plan.json()["error"]) == (0, None)
    assert shop.state() == before


def test_a_target_that_does_not_respond_is_reported_and_holds_up_no_other(door: Door, shop: Target) -> None:
    down = {"url": "postgresql://lily:secret-word@127.0.0.1:1/nowhere", "connect_seconds": 1}
    create(door, "/enforcement-targets", {"name": "Down", "type": "postgres", "config": down})
    added(door, shop)
    answer = {}
    eventually(lambda: answer.update(door.http.get("/enforcement-targets/down").json()) or answer["state"], "failing")
    assert answer["error"]
    assert "secret-word" not in httpx.Response(200, json=answer).text
    tagged = door.http.post("/metadata/shop.customers/tags", json={"tag": "PII"})
    written = f"/propagations/{tagged.headers['Lily-Receipt']}"
    states = {"Down": "failed", "Shop": "confirmed"}
    eventually(lambda: {one["target"]: one["state"] for one in door.http.get(written).json()["enforcements"]}, states)


def test_the_command_line_adds_shows_plans_applies_and_removes(door: Door, shop: Target, tmp_path: Path) -> None:
    before, config = shop.state(), tmp_path / "shop.toml"
    config.write_text('url = "${SHOP_URL}"\n[roles.analyst]\nrole = "analyst"\n')
    environment = {"LILY_URL": door.stack.url, "LILY_TOKEN": door.token, "SHOP_URL": shop.settings()["url"]}

    def enforce(*words: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "lily", "enforce", *words, "--format", "json"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment}
        )
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    assert enforce("add", "shop", "--type", "postgres", "--config", str(config))["name"] == "shop"
    assert enforce("apply", "shop")["state"] == "in line"
    assert shop.state() != before
    assert [one["name"] for one in enforce("list")["items"]] == ["shop"]
    assert enforce("status", "shop")["error"] is None
    assert [(one["name"], one["state"]) for one in enforce("status")["items"]] == [("shop", "in line")]
    assert enforce("plan", "shop")["count"] == 0
    assert enforce("remove", "shop") == {"name": "shop", "state": "removed"}
    assert shop.state() == before


class TestTargets:
    def test_one_that_cannot_be_reached_is_forgotten_on_request(self, door: Door) -> None:
        down = {"url": "postgresql://lily:secret-word@127.0.0.1:1/nowhere", "connect_seconds": 1}
        create(door, "/enforcement-targets", {"name": "Down", "type": "postgres", "config": down})
        assert door.http.delete("/enforcement-targets/down").json()["state"] == "removing"
        eventually(lambda: bool(door.http.get("/enforcement-targets/down").json()["last_run"]), True)
        assert door.http.get("/enforcement-targets/down").json()["state"] == "removing"
        assert door.http.delete("/enforcement-targets/down", params={"forget": "true"}).status_code == 202
        eventually(lambda: door.http.get("/enforcement-targets/down").status_code, 404)

    def test_one_that_is_forgotten_keeps_what_was_applied(self, door: Door, shop: Target) -> None:
        added(door, shop)
        enforced = shop.state()
        door.http.delete("/enforcement-targets/shop", params={"forget": "true"})
        eventually(lambda: door.http.get("/enforcement-targets/shop").status_code, 404)
        assert shop.state() == enforced

    def test_its_configuration_is_never_shown(self, door: Door, shop: Target) -> None:
        added(door, shop)
        listed = door.http.get("/enforcement-targets")
        assert [one["name"] for one in listed.json()["items"]] == ["Shop"]
        for text in (listed.text, door.http.get("/enforcement-targets/shop").text):
            assert "postgresql://" not in text
            assert f":{PASSWORD}@" not in text

    def test_a_name_is_taken_once_in_any_case(self, door: Door, shop: Target) -> None:
        added(door, shop)
        body = {"name": "SHOP", "type": "postgres", "config": shop.settings()}
        again = door.http.post("/enforcement-targets", json=body)
        assert (again.status_code, codes(again)) == (409, {"EXISTS"})

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"type": "oracle"}, "oracle"),
            ({"config": {}}, "url"),
            ({"config": {"url": "postgresql://localhost/x", "shcemas": []}}, "shcemas"),
            ({"roles": {"ann": {}}}, "ann"),
            ({"roles": {"ann": {"user": "a", "role": "b"}}}, "ann"),
            ({"name": ""}, "name"),
            ({"colour": "red"}, "colour"),
        ],
    )
    def test_one_that_cannot_be_is_refused(self, door: Door, change: dict[str, Any], named: str) -> None:
        body = {"name": "shop", "type": "postgres", "config": {"url": "postgresql://localhost/x"}} | change
        answer = door.http.post("/enforcement-targets", json=body)
        assert answer.status_code == 400, answer.text
        assert named in answer.text
        assert door.http.get("/enforcement-targets").json()["items"] == []

    def test_another_tenants_is_not_found(
        self, door: Door, shop: Target, make_tenant: Callable[[], tuple[str, str]]
    ) -> None:
        added(door, shop)
        with client(door.stack, make_tenant()[1]) as stranger:
            assert stranger.get("/enforcement-targets/shop").status_code == 404
            assert stranger.delete("/enforcement-targets/shop").status_code == 404
            assert stranger.get("/enforcements").json()["items"] == []


def test_receipts_are_paged_and_leave_out_what_a_policy_denies(door: Door, shop: Target) -> None:
    door.change("POST", "/metadata/shop.customers/tags", {"tag": "PII"})
    door.change("POST", "/metadata/shop.customers/tags", {"tag": "GDPR"})
    added(door, shop)
    everything = receipts(door)
    assert len(everything) > 2
    paged: list[dict[str, Any]] = []
    cursor: str | None = None
    while cursor is not None or not paged:
        page = door.http.get("/enforcements", params={"limit": 1} | ({"cursor": cursor} if cursor else {})).json()
        paged, cursor = paged + page["items"], page["next_cursor"]
    assert paged == everything
    denied = policy({"user": "mole"}, {"asset": "shop.customers"}, "deny", applies_to=["metadata"], name="hidden")
    create(door, "/policies", denied)
    with door.limited("policy:read", user="mole") as mole:
        assert receipts(mole) == []
