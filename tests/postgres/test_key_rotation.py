"""`lily keys rotate` against a real PostgreSQL: resumable, safe beside writers, and nothing is lost."""

import base64
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lily.cli.access.keys import _prune
from lily.model.errors import Terminal
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.access.secrets import Secrets, Vault, read_master_keys
from lily.store.postgres.keys import rotation
from lily.store.postgres.keys.rotation import Rotation, Survey
from lily.store.postgres.keys.sealed_tables import SEALED, sealed_tables
from lily.store.postgres.migrations import migrate
from lily.store.postgres.subscriptions.administration import sealed_name
from tests.postgres.migrated import PASSWORDS, Migrated
from tests.postgres_server import postgres_server

pytestmark = pytest.mark.campaign  # it rotates beside writers and readers

TENANT, OTHER = "rotating", "another"
ROWS = 450  # more than two transactions of the rotation
PATIENCE_SECONDS = 60
TARGET = (
    "insert into enforcement_targets (tenant_id, key, name, type, data_source, wrapped_key, sealed) "
    "values (%s, %s, %s, 'postgres', 'shop', %s, %s)"
)

CHANNEL = (
    "insert into notification_channels (tenant_id, key, name, type, wrapped_key, sealed) "
    "values (%s, %s, %s, 'slack', %s, %s)"
)


class Site:
    """A database of its own, and the file with the master key that its processes read."""

    def __init__(self, server: Migrated, directory: Path) -> None:
        self.server, self.file = server, directory / "master.key"
        self.file.write_text(base64.b64encode(os.urandom(32)).decode() + "\n")
        self.owner = psycopg.connect(server.owner, autocommit=True)
        self._api = psycopg.connect(server.url_of("lily_api"), autocommit=True)
        self._environment = {"LILY_DATABASE_URL": server.owner, "LILY_MASTER_KEY_FILE": str(self.file)}
        self._directory = directory

    def close(self) -> None:
        self.owner.execute("truncate secrets, enforcement_targets")
        self.owner.execute("delete from notification_channels")
        self.owner.close()
        self._api.close()

    def put(self, tenant: str, name: str, secret: str) -> None:
        Secrets(self._api, tenant, Vault.of(self.file)).put(name, secret)

    def get(self, tenant: str, name: str, *keys: bytes) -> str | None:
        """With the keys of the file, or with these."""
        return Secrets(self._api, tenant, Vault(*keys) if keys else Vault.of(self.file)).get(name)

    def add_target(self, tenant: str, key: str, config: str) -> None:
        sealed = Vault.of(self.file).seal(tenant, f"enforcement/{key}", config)
        self.owner.execute(TARGET, [tenant, key, key, *sealed])

    def add_channel(self, tenant: str, key: str, config: str) -> None:
        sealed = Vault.of(self.file).seal(tenant, sealed_name(key), config)
        self.owner.execute(CHANNEL, [tenant, key, key, *sealed])

    def target(self, tenant: str, key: str, *keys: bytes) -> str:
        found = self.owner.execute(
            "select wrapped_key, sealed from enforcement_targets where tenant_id = %s and key = %s", [tenant, key]
        ).fetchone()
        assert found is not None
        return Vault(*keys).open(tenant, f"enforcement/{key}", *found)

    def start(self, *options: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "lily", "keys", "rotate", "--format", "json", *options]
        environment = {**os.environ, **self._environment, "LILY_DATA_DIR": str(self._directory / "data")}
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=self._directory
        )

    def rotate(self, *options: str) -> dict[str, Any]:
        running = self.start(*options)
        out, error = running.communicate(timeout=PATIENCE_SECONDS)
        assert running.returncode == 0, error
        return dict(json.loads(out.splitlines()[-1]))

    def refused(self, *options: str) -> str:
        running = self.start(*options)
        said = running.communicate(timeout=PATIENCE_SECONDS)
        assert running.returncode != 0
        return " ".join(" ".join(said).split())

    @property
    def keys(self) -> list[bytes]:
        return read_master_keys(self.file)


@pytest.fixture(scope="module")
def server() -> Iterator[Migrated]:
    """One of its own: in the others tests encrypt with keys that this one does not know."""
    with postgres_server() as own:
        migrate(own.url, PASSWORDS)
        create_tenant(own.url, TENANT)
        create_tenant(own.url, OTHER)
        yield Migrated(own.url)


@pytest.fixture
def site(server: Migrated, tmp_path: Path) -> Iterator[Site]:
    with closing(Site(server, tmp_path)) as found:
        yield found


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_everything_is_encrypted_under_a_new_key_and_old_keys_go_when_nothing_needs_them(site: Site) -> None:
    (old,) = site.keys
    for tenant in (TENANT, OTHER):
        site.put(tenant, "webhook", f"of {tenant}")
        site.add_target(tenant, "shop", f"config of {tenant}")
    done = site.rotate()
    new, kept = site.keys
    assert (done["added"], done["rows"], done["resealed"], done["keys"], done["pruned"]) == (True, 4, 4, 2, 0)
    assert (kept, stat.S_IMODE(site.file.stat().st_mode)) == (old, 0o600)
    for tenant in (TENANT, OTHER):
        assert site.get(tenant, "webhook", new) == f"of {tenant}"
        assert site.target(tenant, "shop", new) == f"config of {tenant}"
    pruned = site.rotate("--prune", "--grace", "0", "--no-new-key")
    assert (pruned["added"], pruned["resealed"], pruned["pruned"]) == (False, 0, 1)
    assert site.keys == [new]
    key = done["key"]
    audited = site.owner.execute(
        "select tenant_id, entity, detail ->> 'rows', detail ->> 'key' from audit "
        "where action = 'keys.rotated' and detail ->> 'key' = %s",
        [key],
    ).fetchall()
    assert sorted(audited) == [
        (tenant, table, "1", key) for tenant in (OTHER, TENANT) for table in ("enforcement_targets", "secrets")
    ]


def test_a_rotation_that_was_killed_in_the_middle_is_finished_by_the_next_one(site: Site) -> None:
    for number in range(ROWS):
        site.put(TENANT, f"secret {number:04}", f"value {number}")
    (old,) = site.keys
    with psycopg.connect(site.server.owner) as holder:  # so that it stops in its last transaction
        holder.execute("select from secrets where name = %s for update", [f"secret {ROWS - 1:04}"])
        running = site.start()
        waits = "select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'"
        until(lambda: bool((site.owner.execute(waits).fetchone() or [False])[0]))
        running.send_signal(signal.SIGKILL)
        running.communicate()
    new, kept = site.keys
    assert kept == old
    assert all(site.get(TENANT, f"secret {number:04}") == f"value {number}" for number in (0, ROWS // 2, ROWS - 1))
    with pytest.raises(Terminal, match="cannot be decrypted"):
        site.get(TENANT, f"secret {ROWS - 1:04}", new)
    done = site.rotate()
    assert (done["added"], done["keys"]) == (False, 2)
    assert 0 < done["resealed"] < ROWS
    assert all(site.get(TENANT, f"secret {number:04}", new) == f"value {number}" for number in (0, ROWS - 1))


def test_writers_and_readers_beside_a_rotation_notice_nothing(site: Site) -> None:
    for number in range(ROWS):
        site.put(TENANT, f"secret {number:04}", "first")
    written: dict[str, str] = {}
    stop = threading.Event()
    vault = Vault.of(site.file)  # held for as long as a process lives

    def write() -> None:
        with psycopg.connect(site.server.url_of("lily_api"), autocommit=True) as connection:
            secrets = Secrets(connection, TENANT, vault)
            for turn in count():
                name = f"secret {turn * 7 % ROWS:04}"
                secrets.put(name, f"turn {turn}")
                written[name] = f"turn {turn}"
                assert secrets.get(name) == f"turn {turn}"
                if stop.is_set():
                    return

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        try:
            for _ in range(3):
                site.rotate()
        finally:
            stop.set()
        writer.result()
    assert len(site.keys) > 1
    assert written
    site.rotate("--no-new-key", "--prune", "--grace", "0")
    (key,) = site.keys
    for number in range(ROWS):
        name = f"secret {number:04}"
        assert site.get(TENANT, name, key) == written.get(name, "first")


def test_rows_of_all_tenants_and_tables_are_found_whatever_the_order_of_their_keys(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotation, "BATCH", 1)
    for tenant, key in ((OTHER, "z"), (TENANT, "a"), (TENANT, "b")):
        site.put(tenant, key, "value")
        site.add_target(tenant, key, "config")
        site.add_channel(tenant, key, "config")
    new = os.urandom(32)
    rotating = Rotation(site.owner, [new, *site.keys], "tester")
    assert rotating.survey() == Survey(9, 9, [])
    assert rotating.reseal() == 9
    assert Rotation(site.owner, [new], "tester").survey() == Survey(9, 0, [])


def test_no_key_is_removed_that_a_secret_still_needs(site: Site) -> None:
    (old,) = site.keys
    site.put(TENANT, "late", "value")
    known = [os.urandom(32), old]
    site.file.write_text("".join(f"{base64.b64encode(key).decode()}\n" for key in known))
    with pytest.raises(Terminal, match="under an old key"):
        _prune(site.owner, site.file)
    assert site.keys == known


def test_a_secret_that_no_key_decrypts_stops_the_rotation_before_it_changes_anything(site: Site) -> None:
    site.put(TENANT, "readable", "value")
    site.put(TENANT, "altered", "value")
    site.owner.execute(
        "update secrets set sealed = set_byte(sealed, 14, 255 - get_byte(sealed, 14)) where name = 'altered'"
    )
    before = site.keys
    assert f"secrets {TENANT}/altered" in site.refused("--prune")
    assert site.keys == before


def test_two_rotations_do_not_run_at_once(site: Site) -> None:
    with psycopg.connect(site.server.owner, autocommit=True) as other:
        other.execute("select pg_advisory_lock(%s)", [0x6C6B])
        assert "ROTATION_RUNNING" in site.refused()


def test_every_table_with_encrypted_rows_is_listed(site: Site) -> None:
    assert {table.table for table in sealed_tables(site.owner)} <= {table.table for table in SEALED}
    site.owner.execute("create table vaulted (tenant_id text, wrapped_key bytea, sealed bytea)")
    try:
        with pytest.raises(Terminal, match="vaulted"):
            sealed_tables(site.owner)
    finally:
        site.owner.execute("drop table vaulted")
