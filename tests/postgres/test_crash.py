"""A crash of one of the server's processes, after which it gives the numbers of lost transactions to others."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from lily.model import ids
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.migrations import migrate
from lily.store.postgres.sessions import StoreUnavailable
from tests.postgres.cached_facts import CachedFacts, Shown
from tests.postgres.migrated import PASSWORDS, Migrated
from tests.postgres_server import postgres_server

TENANT, NAME = "crashing", "db.s.t"
ASSET = ids.asset_id(TENANT, NAME)
RECOVERY_SECONDS = 60
INSERT = (
    "insert into assets (tenant_id, id, qualified_name, source, source_at, created_at, updated_at) "
    "values (%s, %s, %s, '{}', '2026', now(), now())"
)
TAG = """update assets set source = '{"tags": {"pii": "PII"}}' where tenant_id = %s and id = %s"""


@pytest.fixture
def server() -> Iterator[Migrated]:
    """One of its own, because it crashes."""
    with postgres_server() as own:
        migrate(own.url, PASSWORDS)
        create_tenant(own.url, TENANT)
        yield Migrated(own.url)


def test_facts_are_read_again_after_a_crash(server: Migrated) -> None:
    with closing(CachedFacts(server.url_of("lily_api"))) as cached:
        with closing(psycopg.connect(server.owner, autocommit=True)) as connection:
            connection.execute(INSERT, [TENANT, ASSET, NAME])
            connection.execute("checkpoint")
            lost = roll_back(connection)
            assert cached.difference(TENANT, [NAME]) is None
            os.kill(connection.info.backend_pid, signal.SIGKILL)
        with closing(recovered(server)) as connection, connection.transaction():
            connection.execute(TAG, [TENANT, ASSET])
            assert number(connection) <= lost, "the server did not give the number of a lost transaction again"
        assert difference(cached) is None


def roll_back(connection: psycopg.Connection) -> int:
    """Transactions of which nothing lasts, not even their numbers; returns the last of these."""
    found = 0
    for _ in range(20):
        with connection.transaction(force_rollback=True):
            found = number(connection)
    return found


def number(connection: psycopg.Connection) -> int:
    row = connection.execute("select pg_current_xact_id()::text::bigint").fetchone()
    assert row is not None
    return int(row[0])


def recovered(server: Migrated) -> psycopg.Connection:
    deadline = time.monotonic() + RECOVERY_SECONDS
    while True:
        try:
            return psycopg.connect(server.owner, autocommit=True)
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def difference(cached: CachedFacts) -> tuple[Shown, Shown] | None:
    """Once the API has connected again."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    while True:
        try:
            return cached.difference(TENANT, [NAME])
        except StoreUnavailable:
            assert time.monotonic() < deadline
