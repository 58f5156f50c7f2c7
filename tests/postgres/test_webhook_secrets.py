"""Secrets of webhooks in a real PostgreSQL: encrypted, replaced without downtime, and cached until they change."""

import asyncio
import base64
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from lily.api.webhooks.secrets import CACHE_SECONDS, WebhookSecrets
from lily.model.access import Principal
from lily.model.errors import Terminal
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.access.webhook_secrets import put_secret, remove_secrets, secret_dates, valid_secrets
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

SOURCE = "monte-carlo"


class SecretStore:
    def __init__(self, migrated: Migrated, tenant: str, key_file: Path) -> None:
        self.run, self.key_file = migrated.as_api, key_file
        self.principal = Principal("", tenant, "ann", frozenset({"admin"}))

    async def put(self, database: Database, secret: str, seconds: int = 3600) -> None:
        vault = Vault.of(self.key_file)
        await put_secret(database, self.principal, vault, source=SOURCE, secret=secret, keep_seconds=seconds)

    async def valid(self, database: Database, tenant: str | None = None) -> list[str]:
        found = await valid_secrets(database, tenant or self.principal.tenant, SOURCE, self.key_file)
        return [one.secret.decode() for one in found]


@pytest.fixture
def secrets(migrated: Migrated, make_world: Callable[[], World], tmp_path: Path) -> SecretStore:
    key_file = tmp_path / "master.key"
    key_file.write_text(base64.b64encode(bytes(32)).decode())
    return SecretStore(migrated, make_world().tenant, key_file)


def test_the_secret_before_stays_valid_and_earlier_ones_end(secrets: SecretStore) -> None:
    async def story(database: Database) -> list[list[str]]:
        found = []
        for name in ("first", "second", "third"):
            await secrets.put(database, name)
            found.append(await secrets.valid(database))
        await secrets.put(database, "fourth", seconds=0)
        return [*found, await secrets.valid(database)]

    assert secrets.run(story) == [["first"], ["second", "first"], ["third", "second"], ["fourth"]]


def test_a_secret_ends_when_its_time_has_come(secrets: SecretStore, owner: psycopg.Connection) -> None:
    async def story(database: Database) -> tuple[list[str], int]:
        await secrets.put(database, "first")
        await secrets.put(database, "second")
        owner.execute(
            "update secrets set expires_at = now() where tenant_id = %s and expires_at is not null",
            [secrets.principal.tenant],
        )
        return await secrets.valid(database), len(await secret_dates(database, secrets.principal.tenant))

    assert secrets.run(story) == (["second"], 1)


def test_secrets_are_encrypted_audited_and_of_one_tenant(
    secrets: SecretStore, make_world: Callable[[], World], owner: psycopg.Connection, tmp_path: Path
) -> None:
    other = make_world().tenant
    secrets.run(lambda database: secrets.put(database, "plain text"))
    assert secrets.run(lambda database: secrets.valid(database, other)) == []
    rows = owner.execute("select sealed from secrets where tenant_id = %s", [secrets.principal.tenant]).fetchall()
    assert len(rows) == 1
    assert b"plain text" not in bytes(rows[0][0])
    audited = owner.execute(
        "select principal, action, entity from audit where tenant_id = %s and principal <> 'owner'",
        [secrets.principal.tenant],
    )
    assert audited.fetchall() == [("ann", "webhook-secret.put", SOURCE)]
    (tmp_path / "other.key").write_text(base64.b64encode(bytes([1] * 32)).decode())
    with pytest.raises(Terminal, match="another master key"):
        secrets.run(lambda database: valid_secrets(database, secrets.principal.tenant, SOURCE, tmp_path / "other.key"))


def test_a_process_uses_a_change_as_soon_as_it_is_notified(
    secrets: SecretStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lily.api.webhooks.secrets.CACHE_SECONDS", 1e6)

    async def story(database: Database) -> list[list[bytes]]:
        cache, tenant = WebhookSecrets(database, secrets.key_file), secrets.principal.tenant
        found = [await cache.of(tenant, SOURCE)]
        await secrets.put(database, "first")
        cache.invalidate("another-tenant")
        found.append(await cache.of(tenant, SOURCE))  # still as it was read, whoever else changes something
        cache.invalidate(tenant)
        found.append(await cache.of(tenant, SOURCE))
        assert await remove_secrets(database, secrets.principal, SOURCE)
        assert not await remove_secrets(database, secrets.principal, SOURCE)
        cache.invalidate("")
        return [*found, await cache.of(tenant, SOURCE)]

    assert secrets.run(story) == [[], [], [b"first"], []]


def test_a_secret_ends_when_its_time_has_come_also_while_it_is_cached(
    secrets: SecretStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lily.api.webhooks.secrets.CACHE_SECONDS", 1e6)

    async def story(database: Database) -> list[list[bytes]]:
        cache, tenant = WebhookSecrets(database, secrets.key_file), secrets.principal.tenant
        await secrets.put(database, "first")
        await secrets.put(database, "second", seconds=3600)
        found = [await cache.of(tenant, SOURCE)]
        clock = SimpleNamespace(time=lambda: time.time() + 7200, monotonic=time.monotonic)
        monkeypatch.setattr("lily.api.webhooks.secrets.time", clock)
        return [*found, await cache.of(tenant, SOURCE)]

    assert secrets.run(story) == [[b"second", b"first"], [b"second"]]


def test_what_is_in_use_is_looked_up_again_before_it_expires(
    secrets: SecretStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(database: Database) -> list[list[bytes]]:
        cache, tenant, began = WebhookSecrets(database, secrets.key_file), secrets.principal.tenant, time.monotonic()
        clock = SimpleNamespace(time=time.time, monotonic=lambda: began)
        monkeypatch.setattr("lily.api.webhooks.secrets.time", clock)
        found = [await cache.of(tenant, SOURCE)]
        await secrets.put(database, "first")
        clock.monotonic = lambda: began + CACHE_SECONDS * 0.4
        found.append(await cache.of(tenant, SOURCE))
        assert not look_ups()  # too early
        clock.monotonic = lambda: began + CACHE_SECONDS * 0.6
        found += [await cache.of(tenant, SOURCE), await cache.of(tenant, SOURCE)]  # without waiting for the look-up
        (look_up,) = look_ups()  # one for both
        await look_up
        return [*found, await cache.of(tenant, SOURCE)]

    assert secrets.run(story) == [[], [], [], [], [b"first"]]


def look_ups() -> set["asyncio.Task[object]"]:
    return {task for task in asyncio.all_tasks() if "WebhookSecrets._look_up" in repr(task.get_coro())}


def test_a_change_during_a_look_up_is_not_overwritten_by_it(secrets: SecretStore) -> None:
    async def story(database: Database) -> list[bytes]:
        cache, tenant = WebhookSecrets(database, secrets.key_file), secrets.principal.tenant
        under_way = asyncio.create_task(cache.of(tenant, SOURCE))
        await asyncio.sleep(0)  # it has asked the database, which does not know the secret yet
        cache.invalidate(tenant)
        await under_way
        await secrets.put(database, "first")
        return await cache.of(tenant, SOURCE)

    assert secrets.run(story) == [b"first"]
