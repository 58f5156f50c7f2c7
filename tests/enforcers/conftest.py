"""A server of its own, because roles belong to the whole server, and a new database in it for each test."""

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
