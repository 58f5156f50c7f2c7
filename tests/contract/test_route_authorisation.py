"""Every route of the OpenAPI document with callers who may and callers who may not, by scope and by policy.

The tests are generated from the document, so a new route is tested by itself once `routes.py` states how to call it.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import get_args

import httpx
import orjson
import pytest

from lily.model.access import Scope
from tests.built_api import operations
from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door, client, table
from tests.contract.flows import connect
from tests.contract.incidents import found, put_secret, report
from tests.contract.routes import DENIED, OPEN, POLICY, ROUTES, VAULT, Route
from tests.contract.test_dead_letters import append_raw, letters
from tests.monte_carlo import anomaly
from tests.shared_stack import Stack

SCOPES = frozenset(get_args(Scope)) - {"admin"}
DENIED_USER = "excluded"


OPERATIONS = operations()
WITH_TOKEN = [operation for operation in OPERATIONS if operation in ROUTES and ROUTES[operation].scopes != ()]
WITH_SCOPE = [operation for operation in WITH_TOKEN if ROUTES[operation].scopes]
ABOUT_ASSETS = [operation for operation in WITH_SCOPE if ROUTES[operation].denial]


@pytest.fixture(scope="module")
def vault(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    """A tenant with one schema that a policy denies to one user."""
    tenant, token = make_tenant()
    with client(stack, token) as http:
        door = Door(stack, tenant, token, http)
        door.ingest("vault", "schema")
        door.ingest(VAULT, parent="vault", tags=["GDPR"])
        with door.limited("metadata:read", "metadata:write") as crawler:
            crawler.ingest(VAULT, parent="vault", tags=[])  # the tag is held, and pending
        door.ingest(OPEN)
        connect(door, (OPEN, VAULT), kind="used-in")
        append_raw(door, orjson.dumps({"data": {"qualified_name": VAULT}}))
        letters(door, 1)
        put_secret(door)
        report(door, anomaly(VAULT))
        found(door)
        fields = {"actions": ["READ", "WRITE", "DELETE"], "name": POLICY}
        create(door, "/policies", policy({"user": DENIED_USER}, {"asset": "vault"}, "deny", **fields))
        yield door


@pytest.fixture(scope="module")
def known(vault: Door) -> dict[str, dict[str, str]]:
    """What only the running stack knows, by operation."""
    answer = vault.http.post("/ingest-metadata", json=table(VAULT, parent="vault"), headers=WAIT)
    return {"GET /propagations/{id}": {"id": answer.headers["Lily-Receipt"]}}


def insufficient(route: Route) -> Iterator[frozenset[str]]:
    """Sets of scopes that do not suffice, each as large as it can be."""
    needed = route.scopes or ()
    return iter([SCOPES - set(needed)]) if route.either else (SCOPES - {scope} for scope in needed)


def sufficient(route: Route) -> Iterator[tuple[str, ...]]:
    """The smallest sets of scopes that suffice."""
    needed = route.scopes or ("enforce:read",)
    return ((scope,) for scope in needed) if route.either else iter([needed])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_route_states_how_it_is_called_and_whom_it_serves(operation: str) -> None:
    assert operation in ROUTES, f"add {operation} to tests/contract/routes.py, with the scopes that it needs"


def test_no_route_is_stated_that_does_not_exist() -> None:
    assert ROUTES.keys() <= set(OPERATIONS)


@pytest.mark.parametrize("operation", WITH_TOKEN)
def test_without_a_token_a_route_answers_401(vault: Door, operation: str, known: dict[str, dict[str, str]]) -> None:
    with httpx.Client(base_url=vault.stack.url, timeout=60) as nobody:
        assert ROUTES[operation].send(nobody, operation, known.get(operation, {})).status_code == 401


@pytest.mark.parametrize("operation", WITH_SCOPE)
def test_a_token_with_all_other_scopes_is_refused_by_name_of_the_scope(
    vault: Door, operation: str, known: dict[str, dict[str, str]]
) -> None:
    route = ROUTES[operation]
    for scopes in insufficient(route):
        with vault.limited(*sorted(scopes)) as caller:
            answer = route.send(caller.http, operation, known.get(operation, {}))
            assert answer.status_code == 403, answer.text
            assert any(scope in answer.text for scope in set(route.scopes or ()) - scopes)


@pytest.mark.parametrize("operation", WITH_TOKEN)
def test_a_token_with_the_scope_is_served(vault: Door, operation: str, known: dict[str, dict[str, str]]) -> None:
    route, answers = ROUTES[operation], []
    for scopes in sufficient(route):
        with vault.limited(*scopes) as caller:
            answer = route.send(caller.http, operation, known.get(operation, {}))
            assert answer.status_code < 500, answer.text
            assert answer.status_code not in {401, 403}, answer.text
            answers.append(answer)
    assert route.denial is None or not all(map(DENIED[route.denial], answers))  # each scope may show another part


@pytest.mark.parametrize("operation", ABOUT_ASSETS)
def test_a_policy_denies_what_the_scopes_would_allow(
    vault: Door, operation: str, known: dict[str, dict[str, str]]
) -> None:
    route = ROUTES[operation]
    assert route.denial is not None
    if "dead-letters" in operation:
        count = len(letters(vault, 1))
        append_raw(vault, orjson.dumps({"data": {"qualified_name": VAULT}}))  # one that is not replayed yet
        letters(vault, count + 1)
    needed = sorted(set(chain.from_iterable(sufficient(route))))
    with vault.limited(*needed, user=DENIED_USER) as caller:
        answer = route.send(caller.http, operation, known.get(operation, {}))
        assert DENIED[route.denial](answer), answer.text
