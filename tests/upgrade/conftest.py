"""A server of its own, and on it an owner as a managed PostgreSQL gives one: no superuser, may create roles."""

from collections.abc import Iterator

import psycopg
import pytest

from lily.store.postgres.migrations import migrate
from tests.postgres_server import Server, postgres_server
from tests.upgrade.database import OWNER, OWNER_PASSWORD, PASSWORDS, Database


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with postgres_server() as found:
        with psycopg.connect(found.url, autocommit=True) as connection:
            connection.execute(f"create role {OWNER} login createrole password '{OWNER_PASSWORD}'".encode())
        # The roles belong to the server. Whoever creates them may alter them later, so the owner is the first.
        migrate(Database(found).owner, PASSWORDS)
        yield found


@pytest.fixture
def database(server: Server) -> Database:
    return Database(server)


@pytest.fixture(scope="session")
def fresh(server: Server) -> Database:
    """A database that was installed with the newest version. Not to be changed."""
    found = Database(server)
    migrate(found.owner, PASSWORDS)
    return found
