"""A warehouse target: its script, what a person reports about it, and who may."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.access import create, policy
from tests.contract.door import Door, client, codes
from tests.contract.shop import shop_door
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # each of its commands is a process

PATIENCE_SECONDS = 90.0
PEOPLE = "shop.public.people"


@pytest.fixture
def door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    """Analysts read the shop, with personal data masked."""
    with shop_door(stack, make_tenant) as made:
        made.ingest(PEOPLE, data_source="shop")
        made.ingest(f"{PEOPLE}.mail", "column", parent=PEOPLE, data_type="VARCHAR(20)", tags=["PII"])
        create(made, "/policies", policy({"user": "*"}, {"tag": "PII"}, "mask", mask="show-last-4", name="mask"))
        yield made


def added(door: Door, kind: str, **config: Any) -> None:
    body = {"name": "Warehouse", "type": kind, "data_source": "shop", "config": config}
    create(door, "/enforcement-targets", body)


def script(door: Door, **given: str) -> str:
    answer = door.http.get("/enforcement-targets/warehouse/script", params=given)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    return answer.text


def digest_of(text: str) -> str:
    found = re.search(r"^-- Digest: ([0-9a-f]{64})$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def eventually(look: Callable[[], Any], expected: Any) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := look()) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def state(door: Door) -> str:
    return str(door.http.get("/enforcement-targets/warehouse").json()["state"])


def receipt_states(door: Door) -> set[str]:
    return {one["state"] for one in door.http.get("/enforcements").json()["items"]}


def of_write(door: Door, receipt: str) -> list[str]:
    return [one["state"] for one in door.http.get(f"/propagations/{receipt}").json()["enforcements"]]


@pytest.mark.parametrize(
    ("kind", "config", "shown"),
    [
        ("snowflake", {}, 'MODIFY COLUMN "MAIL" SET MASKING POLICY'),
        ("databricks", {}, "ALTER COLUMN `mail` SET MASK"),
        ("bigquery", {"domain": "example.org"}, 'ALTER COLUMN `mail` SET OPTIONS (data_policies = ["{'),
    ],
)
def test_a_tag_is_in_the_next_script(door: Door, kind: str, config: dict[str, Any], shown: str) -> None:
    added(door, kind, **config)
    assert shown in script(door)
    door.ingest(f"{PEOPLE}.mail", "column", parent=PEOPLE, data_type="VARCHAR(20)", tags=[])
    eventually(lambda: shown in script(door), expected=False)


def test_it_waits_until_the_script_is_reported_and_again_after_a_change(door: Door) -> None:
    added(door, "snowflake")
    eventually(lambda: state(door), "waiting")
    eventually(lambda: receipt_states(door), {"requested"})
    digest = digest_of(script(door))
    answer = door.http.post("/enforcement-targets/warehouse/confirm", json={"digest": digest})
    assert (answer.status_code, answer.json()["status"]) == (200, "confirmed"), answer.text
    assert (state(door), receipt_states(door)) == ("in line", {"confirmed"})
    create(door, "/policies", policy({"role": "analyst"}, {"asset": f"{PEOPLE}.mail"}, "deny", name="no"))
    eventually(lambda: state(door), "waiting")
    refused = door.http.post("/enforcement-targets/warehouse/confirm", json={"digest": digest})
    assert (refused.status_code, codes(refused)) == (409, {"NO_SCRIPT"})
    assert digest_of(script(door)) in refused.text


def test_the_receipt_of_a_write_is_not_confirmed_before_the_script(door: Door) -> None:
    added(door, "snowflake")
    eventually(lambda: state(door), "waiting")
    written = door.http.post(f"/metadata/{PEOPLE}/tags", json={"tag": "PII"}).headers["Lily-Receipt"]
    eventually(lambda: of_write(door, written), ["requested"])
    eventually(
        lambda: (
            door.http.post(
                "/enforcement-targets/warehouse/confirm", json={"digest": digest_of(script(door))}
            ).status_code
        ),
        200,
    )
    eventually(lambda: of_write(door, written), ["confirmed"])


def test_the_command_line_prints_confirms_and_takes_back(door: Door, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text("grants = false\n")
    environment = {**os.environ, "LILY_URL": door.stack.url, "LILY_TOKEN": door.token}

    def enforce(*words: str) -> str:
        command = [sys.executable, "-m", "lily", "enforce", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    enforce("add", "warehouse", "--type", "databricks", "--config", str(tmp_path / "w.toml"), "--data-source", "shop")
    text = enforce("script", "warehouse")
    assert text == script(door)
    enforce("confirm", "warehouse", "--digest", digest_of(text))
    assert "in line" in enforce("status", "warehouse")
    taken_back = enforce("script", "warehouse", "--remove")
    assert "DROP MASK" in taken_back
    assert "SET MASK" not in taken_back


class TestRefusals:
    def test_a_target_that_lily_changes_itself_has_no_script(self, door: Door) -> None:
        down = {"url": "postgresql://lily:x@127.0.0.1:1/nowhere", "connect_seconds": 1}
        create(door, "/enforcement-targets", {"name": "warehouse", "type": "postgres", "config": down})
        answer = door.http.get("/enforcement-targets/warehouse/script")
        assert (answer.status_code, codes(answer)) == (409, {"NO_SCRIPT"})

    @pytest.mark.parametrize("body", [{}, {"digest": "x"}, {"digest": "0" * 64, "more": 1}, []])
    def test_what_is_no_confirmation_is_refused(self, door: Door, body: Any) -> None:
        added(door, "snowflake")
        assert door.http.post("/enforcement-targets/warehouse/confirm", json=body).status_code == 400

    @pytest.mark.parametrize(
        ("kind", "config"),
        [("snowflake", {"schema": "x"}), ("bigquery", {"location": "US; DROP"}), ("databricks", {"grants": "perhaps"})],
    )
    def test_a_configuration_that_is_none_is_refused(self, door: Door, kind: str, config: dict[str, Any]) -> None:
        answer = door.http.post("/enforcement-targets", json={"name": "w", "type": kind, "config": config})
        assert answer.status_code == 400, answer.text

    def test_another_tenants_target_is_not_found(self, door: Door, make_tenant: Callable[[], tuple[str, str]]) -> None:
        added(door, "snowflake")
        with client(door.stack, make_tenant()[1]) as stranger:
            assert stranger.get("/enforcement-targets/warehouse/script").status_code == 404
            answer = stranger.post("/enforcement-targets/warehouse/confirm", json={"digest": "0" * 64})
            assert answer.status_code == 404
