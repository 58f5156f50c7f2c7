"""Tickets of WebSockets: a ticket opens nothing that its token or its user would not open any more."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import psycopg
import pytest

from lily.model.access import Principal
from lily.store.postgres.access.administration import create_token, revoke_token, token_hash
from lily.store.postgres.access.tokens import issue_ticket, principal_of, redeem_ticket
from lily.store.postgres.access.users import disable_user
from lily.store.postgres.sessions import Database
from tests.api_database import Result, with_database
from tests.shared_stack import Stack


def run(stack: Stack, work: Callable[[Database], Awaitable[Result]]) -> Result:
    """With the role of the API."""
    return with_database(stack.database_of("lily_api"), work)


@pytest.fixture
def ann(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Principal:
    token = create_token(stack.database, make_tenant()[0], ["metadata:read"], user="ann", ttl_seconds=3600)
    found = run(stack, lambda database: principal_of(database, token_hash(token)))
    assert found is not None
    return found


def issued(stack: Stack, principal: Principal) -> str:
    return run(stack, lambda database: issue_ticket(database, principal))


def redeemed(stack: Stack, ticket: str) -> Principal | None:
    return run(stack, lambda database: redeem_ticket(database, ticket))


def test_a_ticket_is_for_its_principal_and_works_once(stack: Stack, ann: Principal) -> None:
    signed_in = replace(ann, token_id="", groups=frozenset({"hr"}), issuer="https://id.example.com")
    for principal in (ann, signed_in):
        ticket = issued(stack, principal)
        assert redeemed(stack, ticket) == principal
        assert redeemed(stack, ticket) is None


def test_the_ticket_of_a_revoked_or_expired_token_opens_nothing(stack: Stack, ann: Principal) -> None:
    tickets = [issued(stack, ann) for _ in range(2)]
    with psycopg.connect(stack.database) as owner:
        owner.execute("update tokens set expires_at = now() where id = %s", [ann.token_id])
    assert redeemed(stack, tickets.pop()) is None
    with psycopg.connect(stack.database) as owner:
        owner.execute("update tokens set expires_at = null where id = %s", [ann.token_id])
    assert revoke_token(stack.database, ann.token_id)
    assert redeemed(stack, tickets.pop()) is None


def test_the_ticket_of_a_disabled_user_opens_nothing(stack: Stack, ann: Principal) -> None:
    signed_in = replace(ann, token_id="", issuer="https://id.example.com")
    tickets = [issued(stack, principal) for principal in (ann, signed_in)]
    assert disable_user(stack.database, ann.tenant, "ann")
    assert [redeemed(stack, ticket) for ticket in tickets] == [None, None]


def test_a_ticket_expires(stack: Stack, ann: Principal) -> None:
    ticket = issued(stack, ann)
    with psycopg.connect(stack.database) as owner:
        owner.execute("update tickets set expires_at = now() where tenant_id = %s", [ann.tenant])
    assert redeemed(stack, ticket) is None
