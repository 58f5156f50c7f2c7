"""A migrated PostgreSQL and nothing else: no worker propagates, so a test decides when that happens."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import psycopg
import pytest

from lily.embedded.bootstrap import url_for_role
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.migrations import migrate
from lily.store.postgres.propagation.propagator import Propagator
from tests.lineage_world import World
from tests.postgres_server import postgres_server

PASSWORDS = {"lily_api": "api-password", "lily_pipeline": "pipeline-password"}


@dataclass(frozen=True)
class Migrated:
    owner: str

    def url_of(self, role: str) -> str:
        return url_for_role(self.owner, role, PASSWORDS[role])


@pytest.fixture(scope="session")
def migrated() -> Iterator[Migrated]:
    with postgres_server() as server:
        migrate(server.url, PASSWORDS)
        yield Migrated(server.url)


@pytest.fixture(scope="session")
def owner(migrated: Migrated) -> Iterator[psycopg.Connection]:
    with psycopg.connect(migrated.owner, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def make_world(migrated: Migrated, owner: psycopg.Connection) -> Iterator[Callable[[], World]]:
    """A new tenant."""
    url = migrated.url_of("lily_pipeline")
    with closing(CatalogueWriter(url)) as writer, closing(Propagator(url)) as propagator:

        def make() -> World:
            tenant = f"t{uuid.uuid4().hex[:12]}"
            create_tenant(migrated.owner, tenant)
            return World(tenant, writer, propagator, owner)

        yield make
