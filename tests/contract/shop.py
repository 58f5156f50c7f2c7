"""A tenant whose shop is enforced somewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.contract.access import create, policy
from tests.contract.door import Door, client
from tests.enforcers.target import forget_targets
from tests.shared_stack import Stack


@contextmanager
def shop_door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    """Analysts read the data source `shop`. What the test adds as targets is forgotten at the end."""
    tenant, token = make_tenant()
    with client(stack, token) as http:
        made = Door(stack, tenant, token, http)
        create(made, "/policies", policy({"role": "analyst"}, {"data_source": "shop"}, name="read"))
        yield made
    forget_targets(stack.database, tenant)
