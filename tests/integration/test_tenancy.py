"""A tenant never sees another's row: not through the API under load, not even with a query that forgets the tenant."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest

from lily.store.postgres.access.users import disable_user
from tests.shared_stack import Stack

Make = Callable[[], tuple[str, str]]
ROUNDS = 15


def client_of(stack: Stack, token: str) -> httpx.Client:
    return httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {token}"}, timeout=30)


def event(tenant: str, number: int) -> dict[str, Any]:
    """The same names for every tenant: only the owner tells them apart."""
    name = f"orders_{number % 7}"
    attributes = {"name": name, "qualified_name": f"shop.public.{name}", "owner": tenant, "round": number}
    return {"entity_type": "table", "attributes": attributes}


def live_in(stack: Stack, tenant: str, token: str) -> set[str]:
    """Writes and reads for a while; answers every tenant and owner that was ever seen."""
    seen: set[str] = set()
    with client_of(stack, token) as client:
        for number in range(ROUNDS):
            wait = {"Prefer": "wait=10"} if number % 5 == 0 else {}
            posted = client.post("/ingest-metadata", json=event(tenant, number), headers=wait)
            assert posted.status_code in {200, 202}, posted.text
            asset_id = posted.json()["metadata_id"]
            found = [client.get(f"/metadata/{asset_id}"), client.get("/metadata", params={"q": "orders"})]
            found.append(client.post("/metadata/batch-get", json={"ids": [asset_id, "shop.public.orders_1"]}))
            for answer in found:
                assert answer.status_code in {200, 404}, answer.text
                body = answer.json()
                for asset in body.get("items", [body] if "metadata_id" in body else []):
                    seen |= {asset["tenant_id"], asset["attributes"]["owner"]}
    return seen


def test_two_tenants_under_concurrent_load_see_only_their_own(stack: Stack, make_tenant: Make) -> None:
    tenants = [make_tenant() for _ in range(2)] * 2
    with ThreadPoolExecutor(len(tenants)) as pool:
        seen = list(pool.map(lambda tenant: (tenant[0], live_in(stack, *tenant)), tenants))
    assert all(owners == {tenant} for tenant, owners in seen)


def test_another_tenants_asset_does_not_exist(stack: Stack, make_tenant: Make) -> None:
    (mine, my_token), (_, their_token) = make_tenant(), make_tenant()
    with client_of(stack, my_token) as me, client_of(stack, their_token) as them:
        posted = me.post("/ingest-metadata", json=event(mine, 1), headers={"Prefer": "wait=10"})
        asset_id = posted.json()["metadata_id"]
        assert me.get(f"/metadata/{asset_id}").status_code == 200
        path = f"/metadata/{asset_id}"
        refused = [
            them.get(path),
            them.put(path, json={"attributes": {"owner": "them"}}),
            them.delete(path),
            them.post(f"{path}/restore"),
            them.post(f"{path}/tags", json={"tag": "PII"}),
            them.get(f"{path}/history"),
            them.get(f"{path}/tags"),
        ]
        assert [answer.status_code for answer in refused] == [404] * len(refused)
        assert them.post("/metadata/batch-get", json={"ids": [asset_id]}).json()["items"] == []


def test_a_body_that_names_another_tenant_is_refused(stack: Stack, make_tenant: Make) -> None:
    (mine, token), (theirs, _) = make_tenant(), make_tenant()
    with client_of(stack, token) as client:
        refused = client.post("/ingest-metadata", json=event(mine, 1) | {"tenant_id": theirs})
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (403, "OTHER_TENANT")


GUARDED = [
    "assets",
    "changes",
    "dead_letters",
    "secrets",
    "audit",
    "tags",
    "edges",
    "derived_tags",
    "derived_tag_history",
    "graph_nodes",
    "decisions",
    "disabled_users",
]


@pytest.mark.parametrize("table", GUARDED)
def test_a_query_that_forgets_the_tenant_sees_only_the_tenant_of_the_transaction(
    stack: Stack, make_tenant: Make, table: str
) -> None:
    (mine, token), _ = make_tenant(), make_tenant()
    with client_of(stack, token) as client:
        client.post("/ingest-metadata", json=event(mine, 1), headers={"Prefer": "wait=10"})
    with psycopg.connect(stack.database_of("lily_api")) as connection:
        forgotten = connection.execute(f"select tenant_id from {table}".encode()).fetchall()  # noqa: S608
        assert forgotten == []
        connection.execute("select set_config('lily.tenant', %s, true)", [mine])
        seen = {row[0] for row in connection.execute(f"select tenant_id from {table}".encode())}  # noqa: S608
        assert seen <= {mine}
        assert table not in {"assets", "changes"} or seen == {mine}


@pytest.mark.parametrize(
    "statement",
    [
        "insert into assets (tenant_id, id, qualified_name) values ('default', gen_random_uuid(), 'x')",
        "update assets set version = 0",
        "insert into derived_tags values ('default', 'pii', gen_random_uuid(), 'propagated', gen_random_uuid(), 1, 1)",
        "delete from edges",
        "select on_delete from tenants",
        "delete from changes",
        "select hash from tokens",
        "insert into tokens (tenant_id, hash, scopes) values ('default', 'x', '{admin}')",
        "insert into disabled_users (tenant_id, user_name) values ('another', 'admin')",
        "update disabled_users set tenant_id = 'another'",
        "alter table assets disable row level security",
        "set role lily_pipeline",
        "set session authorization lily",
    ],
)
def test_the_serving_role_cannot_step_out_of_its_part(stack: Stack, statement: str) -> None:
    with psycopg.connect(stack.database_of("lily_api")) as connection:
        connection.execute("select set_config('lily.tenant', 'default', true)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())


def test_the_serving_role_enables_no_user_of_another_tenant(stack: Stack, make_tenant: Make) -> None:
    (mine, _), (other, _) = make_tenant(), make_tenant()
    assert disable_user(stack.database, mine, "zoe")
    assert disable_user(stack.database, other, "zoe")
    with psycopg.connect(stack.database_of("lily_api")) as connection:
        connection.execute("select set_config('lily.tenant', %s, true)", [mine])
        assert connection.execute("delete from disabled_users").rowcount == 1
    assert not disable_user(stack.database, other, "zoe"), "it was still disabled"
