"""A crash of one of the server's processes, after which it gives the numbers of lost transactions to others."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.migrations import migrate
from lily.store.postgres.sessions import StoreUnavailable
from tests.postgres.cached_facts import CachedFacts
from tests.postgres.migrated import PASSWORDS, Migrated
from tests.postgres_server import postgres_server

TENANT, NAME = "crashing", "db.s.t"
RECOVERY_SECONDS = 60


@pytest.fixture
def server() -> Iterator[Migrated]:
    """One of its own, because it crashes."""
    with postgres_server() as own:
        migrate(own.url, PASSWORDS)
        create_tenant(own.url, TENANT)
        yield Migrated(own.url)


def test_facts_are_read_again_after_a_crash(server: Migrated) -> None:
    """A change may have the number of a transaction that was seen as completed, so no number says what is new. The
    server was not started again: its own processes were."""
    with closing(CachedFacts(server.url_of("lily_api"))) as cached:
        before = cached.known(TENANT, [NAME]).generation
        assert cached.known(TENANT, [NAME]).generation == before
        started = crash(server)
        assert generation(cached) != before
        assert started == start_of(server)


def crash(server: Migrated) -> str:
    """Returns when the server was started, once it has ended all connections and recovered."""
    started = start_of(server)
    with closing(psycopg.connect(server.owner, autocommit=True)) as other:
        with closing(psycopg.connect(server.owner, autocommit=True)) as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            other.execute("select pg_sleep(60)")
    deadline = time.monotonic() + RECOVERY_SECONDS
    while not accepts(server):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return started


def accepts(server: Migrated) -> bool:
    try:
        psycopg.connect(server.owner).close()
    except psycopg.OperationalError:
        return False
    return True


def start_of(server: Migrated) -> str:
    with closing(psycopg.connect(server.owner, autocommit=True)) as connection:
        row = connection.execute("select pg_postmaster_start_time()::text").fetchone()
    assert row is not None
    return str(row[0])


def generation(cached: CachedFacts) -> int:
    """Once the API has connected again."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    while True:
        try:
            return cached.known(TENANT, [NAME]).generation
        except StoreUnavailable:
            assert time.monotonic() < deadline
