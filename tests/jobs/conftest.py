"""A PostgreSQL of its own: the queue needs neither the log nor Spark."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from lily.reactions.jobs import resident
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.migrations import migrate
from tests.jobs.scene import PASSWORDS, TENANTS, Scene
from tests.postgres_server import Server, postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with postgres_server() as found:
        yield found


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    """A database with the newest schema, to be copied; its name."""
    owner = server.create_database()
    migrate(owner, PASSWORDS)
    for tenant in TENANTS:
        create_tenant(owner, tenant)
    return urlsplit(owner).path.removeprefix("/")


@pytest.fixture
def scene(server: Server, template: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A database of the test's own, and workers that look at the clock often."""
    monkeypatch.setattr(resident, "HEAR_SECONDS", 0.05)
    monkeypatch.setattr(resident, "SCHEDULE_SECONDS", 0.05)
    monkeypatch.setattr(resident, "STATE_SECONDS", 0.05)
    with Scene(server.create_database(template=template)) as made:
        yield made
