"""Doors into the one running stack; every test gets a tenant of its own."""

from collections.abc import Callable, Iterator

import pytest

from tests.contract.door import Door, client
from tests.shared_stack import Stack


@pytest.fixture
def door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    tenant, token = make_tenant()
    with client(stack, token) as http:
        yield Door(stack, tenant, token, http)


@pytest.fixture
def other_door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    """A second tenant."""
    tenant, token = make_tenant()
    with client(stack, token) as http:
        yield Door(stack, tenant, token, http)
