"""A caller without the right gets nothing evaluated: neither a body nor a parameter, however broken or expensive."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.contract.door import Door
from tests.contract.routes import ROUTES
from tests.security.operations import OPERATIONS, WITH_TOKEN, send
from tests.shared_stack import Stack

WITH_BODY = [name for name in WITH_TOKEN if "requestBody" in OPERATIONS[name]]
WITH_SCOPE = [name for name in WITH_TOKEN if ROUTES[name].scopes]
BROKEN: dict[str, Any] = {"content": b'{"never": "closed"', "headers": {"Content-Type": "application/json"}}
DEEP: dict[str, Any] = {"content": b"[" * 100_000, "headers": {"Content-Type": "application/json"}}


@pytest.fixture(scope="module")
def nobody(stack: Stack) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=stack.url, timeout=60) as http:
        yield http


@pytest.mark.parametrize("operation", WITH_BODY)
def test_no_body_of_a_stranger_is_read(nobody: httpx.Client, operation: str) -> None:
    for body in (BROKEN, DEEP):
        assert send(nobody, operation, **body).status_code == 401


def test_no_body_of_a_caller_without_the_scope_is_read(door: Door) -> None:
    with door.limited("metrics:read") as caller:
        for operation in (name for name in WITH_BODY if name in WITH_SCOPE):
            for body in (BROKEN, DEEP):
                answer = send(caller.http, operation, **body)
                assert answer.status_code == 403, (operation, answer.text)


def test_no_object_is_disclosed_to_a_caller_without_the_scope(door: Door) -> None:
    """Whether it exists must not show either: 403 for what is there and for what is not."""
    door.ingest("shop.public.orders")
    with door.limited("metrics:read") as caller:
        for name in ("shop.public.orders", "shop.public.none"):
            assert caller.http.get(f"/metadata/{name}").status_code == 403
            assert caller.http.get(f"/lineage/{name}").status_code == 403
