"""Every administrative act and every refusal for lack of authority is in the audit, whichever way it took.

The tests are generated from the OpenAPI document, so a new route is tested by itself once `administration.py` has a
call of it, or the reason why it is not audited.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import grpc
import httpx
import psycopg
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as connect_websocket

from lily.client import Lily
from lily.model import ids
from lily.store.postgres.access.administration import create_tenant, create_token, revoke_token
from lily.store.postgres.audit.verification import opened_chains
from tests.contract.access import create
from tests.contract.administration import ACTS, ORDINARY, Session
from tests.contract.door import WAIT, Door, client, codes, table
from tests.contract.routes import NOTHING, ROUTES, VAULT, Route
from tests.contract.test_grpc import calling, failing
from tests.contract.test_refresh import lily
from tests.contract.test_route_authorisation import OPERATIONS, SCOPES, WITH_SCOPE
from tests.contract.test_subscriptions import SECRET
from tests.enforcers.target import forget_targets
from tests.notification_receiver import notification_receiver
from tests.shared_stack import Stack

CHANGING = [one for one in OPERATIONS if one.partition(" ")[0] in {"POST", "PUT", "PATCH", "DELETE"}]
REFUSED = "access.refused"

Make = Callable[[], tuple[str, str]]


def audit(door: Door, **filters: Any) -> list[dict[str, Any]]:
    """Newest first."""
    answer = door.http.get("/audit", params=filters)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


@pytest.fixture(scope="module")
def admin(stack: Stack, make_tenant: Make) -> Iterator[Door]:
    tenant, token = make_tenant()
    with client(stack, token) as http:
        yield Door(stack, tenant, token, http)
    forget_targets(stack.database, tenant)


@pytest.fixture(scope="module")
def session(admin: Door) -> Iterator[Session]:
    with notification_receiver() as receiver:
        found = Session(admin, receiver)
        found.run()
        yield found


@pytest.fixture(scope="module")
def written(session: Session) -> list[dict[str, Any]]:
    """Everything that the session left, newest first."""
    with Lily(session.door.stack.url, session.door.token) as found:
        return list(found.audit(page_size=20))


@pytest.mark.parametrize("operation", CHANGING)
def test_every_operation_that_changes_something_is_audited_or_states_why_not(operation: str) -> None:
    stated = [operation in ACTS, operation in ORDINARY]
    assert stated.count(True) == 1, f"add {operation} to ACTS or to ORDINARY of tests/contract/administration.py"


def test_no_operation_is_stated_that_does_not_exist() -> None:
    assert {*ACTS, *ORDINARY} <= set(CHANGING)


@pytest.mark.parametrize("operation", ACTS)
def test_an_administrative_act_leaves_an_entry(session: Session, written: list[dict[str, Any]], operation: str) -> None:
    answer = session.answers[operation]
    assert answer.is_success, answer.text
    entries = [entry for entry in written if entry["correlation"] == operation]
    assert entries, f"{operation} left no audit entry: write one in the statement that changes, or call `call.record`"
    (token_id,) = session.door.token_ids("tester")
    for entry in entries:
        assert (entry["actor"], entry["token_id"]) == ("tester", token_id)
        assert entry["address"] == "127.0.0.1"
        assert entry["action"] != REFUSED


def test_what_an_act_left_is_one_chain_and_shows_no_secret(session: Session, written: list[dict[str, Any]]) -> None:
    assert [entry["number"] for entry in written] == list(range(len(written), 0, -1))
    for newer, older in pairwise(written):
        assert newer["previous_hash"] == older["hash"]
    assert SECRET not in str(written)
    assert session.door.token not in str(written)
    with opened_chains(session.door.stack.database) as chains:
        (chain,) = chains.found(session.door.tenant)
        assert chains.verify(chain).broken is None


@pytest.fixture(scope="module")
def known(admin: Door) -> dict[str, dict[str, str]]:
    answer = admin.http.post("/ingest-metadata", json=table(VAULT), headers=WAIT)
    return {"GET /propagations/{id}": {"id": answer.headers["Lily-Receipt"]}}


def insufficient(route: Route) -> list[str]:
    needed = route.scopes or ()
    return sorted(SCOPES - set(needed if route.either else needed[:1]))


@pytest.mark.parametrize("operation", WITH_SCOPE)
def test_a_refusal_for_lack_of_a_scope_leaves_an_entry(
    admin: Door, operation: str, known: dict[str, dict[str, str]]
) -> None:
    route, user = ROUTES[operation], f"mallory {uuid.uuid4()}"
    with admin.limited(*insufficient(route), user=user) as caller:
        answer = route.send(caller.http, operation, known.get(operation, {}))
    assert answer.status_code == 403, answer.text
    (entry,) = audit(admin, actor=user)
    assert (entry["action"], entry["subject"], entry["address"]) == (REFUSED, operation, "127.0.0.1")
    assert (entry["correlation"], [entry["token_id"]]) == (answer.headers["x-correlation-id"], admin.token_ids(user))
    (error,) = answer.json()["errors"]
    assert {name: entry["detail"][name] for name in error} == error


def test_a_call_that_lacks_authority_over_a_protective_tag_leaves_an_entry(door: Door) -> None:
    mart = door.ingest("mart")
    door.change("POST", "/metadata/mart/tags", {"tag": "PII"})
    with door.limited("metadata:read", "metadata:write", user="mallory") as mallory:
        assert mallory.http.delete("/metadata/mart/tags/PII").status_code == 403
    (entry,) = audit(door, action=REFUSED)
    assert (entry["actor"], entry["subject"]) == ("mallory", "DELETE /metadata/{id}/tags/{tag}")
    assert (entry["detail"]["entity"], "policy:write" in entry["detail"]["description"]) == (mart, True)


def test_a_refusal_over_grpc_leaves_an_entry(door: Door) -> None:
    with (
        door.limited("lineage:read", user="mallory") as mallory,
        calling(door, mallory.token) as service,
        failing(grpc.StatusCode.PERMISSION_DENIED, "lineage:write"),
    ):
        service.ingest("a", "b")
    (entry,) = audit(door, action=REFUSED)
    assert (entry["actor"], entry["address"]) == ("mallory", "127.0.0.1")
    assert entry["subject"].startswith("gRPC ")
    assert entry["subject"].endswith("LineageService/IngestRelationships")


def test_a_refusal_of_a_websocket_leaves_an_entry(door: Door) -> None:
    with door.limited("policy:read", user="mallory") as mallory:
        address = f"{door.stack.url.replace('http', 'ws', 1)}/ws/notifications"
        headers = {"Authorization": f"Bearer {mallory.token}"}
        with suppress(InvalidStatus), connect_websocket(address, additional_headers=headers, open_timeout=30):
            pytest.fail("it was accepted")
    (entry,) = audit(door, action=REFUSED)
    assert (entry["actor"], entry["subject"], entry["address"]) == ("mallory", "GET /ws/notifications", "127.0.0.1")


def test_a_token_that_is_no_engine_key_leaves_an_entry_without_the_token(door: Door) -> None:
    answer = httpx.post(f"{door.stack.url}/enforce/opa/k/{door.token}/allow", json={}, timeout=30)
    assert answer.status_code == 403, answer.text
    (entry,) = audit(door, action=REFUSED)
    assert (entry["actor"], entry["subject"]) == ("tester", "POST /enforce/opa/k/{key}/allow")
    assert door.token not in str(entry)


def test_a_flood_of_refusals_does_not_fill_the_audit(door: Door) -> None:
    with door.limited("metadata:read", user="mallory") as mallory:
        assert {mallory.http.get("/policies").status_code for _ in range(50)} == {403}
    # One at once; further ones are counted, and become an entry when the minute ends, in each process of the API.
    assert len(audit(door, action=REFUSED)) < 10


def test_a_call_without_a_valid_token_is_nobodys_and_leaves_nothing(door: Door) -> None:
    before = len(audit(door))
    with client(door.stack, "lily_wrong") as nobody:
        assert nobody.get("/policies").status_code == 401
    assert door.http.get("/policies/none").status_code == 404
    assert door.http.post("/policies", json={}).status_code == 400
    assert len(audit(door)) == before


def test_the_audit_is_filtered_and_paged(door: Door) -> None:
    for name in ("a", "b", "c"):
        create(door, "/roles", {"name": name})
    door.http.put("/settings", json={"on_delete": "cut"})
    roles = audit(door, action="role.created")
    assert [entry["subject"] for entry in roles] == ["c", "b", "a"]
    assert audit(door, action="role.") == roles
    assert audit(door, action="role") == []
    assert [entry["action"] for entry in audit(door, subject="b")] == ["role.created"]
    assert audit(door, actor="nobody") == []
    assert audit(door, actor="tester", action="role.") == roles
    assert audit(door, since=roles[1]["at"], action="role.") == roles[:2]
    assert audit(door, until=roles[1]["at"], action="role.") == roles[2:]
    assert audit(door, since=roles[1]["at"], until=roles[0]["at"]) == roles[1:2]
    first = door.http.get("/audit", params={"action": "role.", "limit": 2}).json()
    rest = door.http.get("/audit", params={"action": "role.", "limit": 2, "cursor": first["next_cursor"]}).json()
    assert (first["items"] + rest["items"], rest["next_cursor"]) == (roles, None)
    other = door.http.get("/audit", params={"action": "tag.", "cursor": first["next_cursor"]})
    assert codes(other) == {"INVALID_CURSOR"}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"since": "yesterday"}, "INVALID_TIME"),
        ({"until": "2026-13-01T00:00:00Z"}, "INVALID_TIME"),
        ({"actor": "a\x00b"}, "INVALID_VALUE"),
        ({"limit": "0"}, "INVALID_VALUE"),
        ({"principal": "ann"}, "UNKNOWN_PARAMETER"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(door: Door, given: dict[str, str], code: str) -> None:
    answer = door.http.get("/audit", params=given)
    assert (answer.status_code, codes(answer)) == (400, {code})


def test_a_tenant_sees_its_own_audit_only(door: Door, other_door: Door) -> None:
    create(door, "/roles", {"name": "mine"})
    assert [entry["action"] for entry in audit(door)] == ["role.created", "token.created", "tenant.created"]
    assert [entry["action"] for entry in audit(other_door)] == ["token.created", "tenant.created"]
    assert audit(door)[0]["number"] == 3


def test_what_commands_do_is_audited_with_who_ran_them(stack: Stack) -> None:
    tenant = f"t{uuid.uuid4().hex[:12]}"
    create_tenant(stack.database, tenant, by="owner:ann")
    token = create_token(stack.database, tenant, ["admin"], user="bob", by="owner:ann")
    create_tenant(stack.database, tenant, by="owner:eve")  # it exists already
    with psycopg.connect(stack.database) as connection:
        ((token_id,),) = connection.execute("select id::text from tokens where tenant_id = %s", [tenant]).fetchall()
    with client(stack, token) as http:
        found = audit(Door(stack, tenant, token, http))
    revoke_token(stack.database, token_id, by="owner:ann")
    described = [(entry["actor"], entry["address"], entry["action"], entry["subject"]) for entry in found]
    assert described == [
        ("owner:ann", "cli", "token.created", token_id),
        ("owner:ann", "cli", "tenant.created", tenant),
    ]
    assert token not in str(found)


def test_the_command_line_lists_the_audit(door: Door) -> None:
    create(door, "/roles", {"name": "first"})
    create(door, "/roles", {"name": "second"})
    code, listed = lily(door, "audit", "list", "--action", "role.", "--limit", "1")
    assert code == 0
    assert [(entry["actor"], entry["subject"]) for entry in listed["items"]] == [("tester", "second")]
    assert lily(door, "audit", "list", "--subject", NOTHING) == (0, {"items": []})
    code, refused = lily(door, "audit", "list", "--since", "yesterday")
    assert (code, "INVALID_TIME" in refused["errors"][0]["description"]) == (1, True), refused


def test_an_authorised_removal_is_audited_by_the_pipeline(door: Door) -> None:
    mart = ids.asset_id(door.tenant, "mart")
    door.ingest("mart")
    door.change("POST", "/metadata/mart/tags", {"tag": "PII"})
    door.change("DELETE", "/metadata/mart/tags/PII")
    (entry,) = audit(door, action="tag.removed")
    assert (entry["actor"], entry["subject"], entry["token_id"]) == ("tester", mart, None)
    assert entry["address"].startswith("lily-")
