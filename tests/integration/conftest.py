"""What tests of propagation share: a propagator and an owner's connection beside the stack's own."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.propagation.propagator import Propagator
from tests.lineage_world import World
from tests.shared_stack import Stack


@pytest.fixture(scope="module")
def propagator(stack: Stack) -> Iterator[Propagator]:
    made = Propagator(stack.database_of("lily_pipeline"))
    yield made
    made.close()


@pytest.fixture
def parked(
    make_tenant: Callable[[], tuple[str, str]],
    catalogue_writer: CatalogueWriter,
    propagator: Propagator,
    owner: psycopg.Connection,
) -> Iterator[World]:
    """A new tenant, from which the stack's own propagation stays away."""
    made = World(make_tenant()[0], catalogue_writer, propagator, owner)
    with made.parked():
        yield made


@pytest.fixture(scope="module")
def owner(stack: Stack) -> Iterator[psycopg.Connection]:
    with psycopg.connect(stack.database, autocommit=True) as connection:
        yield connection
