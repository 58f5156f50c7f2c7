"""A server of its own, because roles belong to the whole server, and a new database in it for each test or module."""

from collections.abc import Iterator

import pytest

from tests.enforcers.target import Target, make_roles
from tests.postgres_server import Server, postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with postgres_server() as found:
        make_roles(found)
        yield found


@pytest.fixture
def target(server: Server) -> Iterator[Target]:
    with Target.made(server) as found:
        yield found


@pytest.fixture(scope="module")
def shop(server: Server) -> Iterator[Target]:
    """For tests that leave the tables as they are, whatever they enforce."""
    with Target.made(server) as found:
        yield found
