"""What tests of propagation share: a propagator and an owner's connection beside the stack's own."""

from collections.abc import Iterator

import psycopg
import pytest

from lily.store.postgres.propagation.propagator import Propagator
from tests.shared_stack import Stack


@pytest.fixture(scope="module")
def propagator(stack: Stack) -> Iterator[Propagator]:
    made = Propagator(stack.database_of("lily_pipeline"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def owner(stack: Stack) -> Iterator[psycopg.Connection]:
    with psycopg.connect(stack.database, autocommit=True) as connection:
        yield connection
