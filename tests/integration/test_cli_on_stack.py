"""Commands that need a running stack: `lily estate --ingest`, `lily token`, `lily tenant` and `lily user`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable

import httpx
import pytest

from lily.client import Lily
from lily.estate import Estate
from lily.model import ids
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # each of its commands is a process

ASSETS, SEED = 1_500, 9


class Cli:
    """`lily` for one tenant of the shared stack."""

    def __init__(self, stack: Stack, tenant: str, token: str) -> None:
        self.stack, self.tenant, self.token = stack, tenant, token

    def __call__(self, *words: str) -> str:
        command = [sys.executable, "-m", "lily", *words, "--data-dir", str(self.stack.data_dir)]
        environment = {**os.environ, "LILY_URL": self.stack.url, "LILY_TOKEN": self.token}
        done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def cli(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Cli:
    return Cli(stack, *make_tenant())


def test_an_ingested_estate_has_its_assets_and_its_lineage(cli: Cli) -> None:
    words = ("estate", "--assets", str(ASSETS), "--seed", str(SEED), "--ingest", "--wait", "--format", "json")
    result = json.loads(cli(*words))
    expected = {
        (ids.asset_id(cli.tenant, edge["from"]), ids.asset_id(cli.tenant, edge["to"]), edge["relationship_type"])
        for edge in Estate(ASSETS, SEED).edges()
    }
    assert (result["accepted"], result["rejected"], result["readable"]) == (ASSETS, 0, True)
    assert result["structure"] + result["columns"] == ASSETS
    assert result["edges"] == len(expected) > 100
    with Lily(cli.stack.url, cli.token) as lily:
        found = {
            (edge["from"], edge["to"], edge["relationship_type"])
            for source in {source for source, _, _ in expected}
            for edge in lily.lineage(source, depth=1).edges
        }
    assert found == expected


def test_tokens_are_listed_below_a_header(cli: Cli) -> None:
    secret = cli("token", "create", "--tenant", cli.tenant, "--scopes", "metadata:read", "--user", "ann").strip()
    header, *rows = cli("token", "list", "--tenant", cli.tenant).splitlines()
    assert header.split() == ["ID", "USER", "SCOPES", "GROUP", "CREATED", "LAST", "USED", "EXPIRES", "REVOKED"]
    assert {row[header.index("USER") :].split()[0] for row in rows} == {"tester", "ann"}
    assert not any(secret in row for row in rows)


def test_a_token_expires_by_default_and_is_rotated(cli: Cli) -> None:
    old = cli("token", "create", "--tenant", cli.tenant, "--scopes", "metadata:read", "--user", "ann").strip()
    kept = cli("token", "create", "--tenant", cli.tenant, "--scopes", "metadata:read", "--ttl", "never").strip()
    listed = json.loads(cli("token", "list", "--tenant", cli.tenant, "--format", "json"))["items"]
    by_user = {token["user"]: token for token in listed}
    assert by_user["ann"]["expires_at"]
    assert by_user[""]["expires_at"] is None
    result = json.loads(cli("token", "rotate", by_user["ann"]["id"], "--grace", "1h", "--format", "json"))
    assert result["replaces"] == by_user["ann"]["id"]
    for token in (old, kept, result["token"]):
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{cli.stack.url}/metadata", headers=headers, timeout=30).status_code == 200


def test_a_quota_is_set_shown_and_reset(cli: Cli) -> None:
    assert "as the settings say" in cli("tenant", "quota", cli.tenant)
    cli("tenant", "quota", cli.tenant, "--events", "500")
    shown = json.loads(cli("tenant", "quota", cli.tenant, "--requests", "0", "--format", "json"))
    assert (shown["events_per_second"], shown["requests_per_second"], shown["connections"]) == (500, 0, None)
    assert "no limit" in cli("tenant", "quota", cli.tenant)
    cleared = json.loads(cli("tenant", "quota", cli.tenant, "--reset", "--format", "json"))
    assert set(cleared.values()) == {cli.tenant, None}


def test_a_tenant_without_tokens_is_reported_with_the_command_that_creates_one(cli: Cli) -> None:
    name = f"{cli.tenant}-b"
    next_step = f"`lily token create --tenant {name} --scopes admin --data-dir {cli.stack.data_dir}`"
    assert next_step in cli("tenant", "create", name)
    assert next_step in cli("token", "list", "--tenant", name)


def test_tenants_are_listed_below_a_header(cli: Cli) -> None:
    header, *rows = cli("tenant", "list").splitlines()
    assert header.split() == ["NAME", "CREATED"]
    assert {"default", cli.tenant} <= {row.split()[0] for row in rows}


def test_a_user_is_disabled_and_enabled(cli: Cli) -> None:
    own = cli("token", "create", "--tenant", cli.tenant, "--scopes", "metadata:read", "--user", "Ann").strip()
    headers = {"Authorization": f"Bearer {own}"}
    assert "is disabled" in cli("user", "disable", "ann", "--tenant", cli.tenant)
    assert httpx.get(f"{cli.stack.url}/metadata", headers=headers, timeout=30).status_code == 401
    assert "was disabled already" in cli("user", "disable", "ANN", "--tenant", cli.tenant)
    again = json.loads(cli("user", "enable", "ann", "--tenant", cli.tenant, "--format", "json"))
    assert again == {"enabled": "ann", "changed": True}
    assert httpx.get(f"{cli.stack.url}/metadata", headers=headers, timeout=30).status_code == 200


def test_an_engine_key_has_one_scope(cli: Cli) -> None:
    assert cli("token", "create", "--engine", "--tenant", cli.tenant, "--user", "trino").startswith("lily_")
    tokens = json.loads(cli("token", "list", "--tenant", cli.tenant, "--format", "json"))["items"]
    assert [token["scopes"] for token in tokens if token["user"] == "trino"] == [["enforce:read"]]
