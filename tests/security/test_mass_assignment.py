"""Fields that a caller must not set: who stated it, for which tenant, with which authority, and what Lily derives."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.door import Door, client, table
from tests.contract.routes import ROUTES
from tests.security.operations import OPERATIONS, WITH_TOKEN, send
from tests.shared_stack import Stack

FORBIDDEN: dict[str, Any] = {
    "tenant": "default",
    "authorised": True,
    "by": "root",
    "principal": "root",
    "is_admin": True,
    "created_by": "root",
    "derived_tags": ["PII"],
    "replayed_at": None,
    "layer": "user",
}
# Formats of others, which may have any further field; those that Lily does not know have no effect.
FOREIGN = ("/api/v1/lineage", "/enforce/", "/webhook", "POST /ingest-metadata/bulk", "/usage")
OBJECTS = [
    name
    for name in WITH_TOKEN
    if "requestBody" in OPERATIONS[name] and isinstance(ROUTES[name].body, dict) and not any(f in name for f in FOREIGN)
]


@pytest.fixture(scope="module")
def target(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    tenant, token = make_tenant()
    with client(stack, token) as http:
        yield Door(stack, tenant, token, http)


@pytest.mark.parametrize("operation", OBJECTS)
def test_a_field_that_is_not_the_callers_is_refused_by_name(target: Door, operation: str) -> None:
    for field, value in FORBIDDEN.items():
        if field in ROUTES[operation].body:
            continue
        body = ROUTES[operation].body
        named = {"name": body["name"]} if "name" in body else {}  # where the path has the name, the body has the same
        answer = send(target.http, operation, named, json=body | {field: value})
        assert answer.status_code in {400, 404, 422}, (field, answer.text)
        assert answer.status_code == 404 or field in answer.text


def test_an_asset_has_the_tenant_and_the_author_of_its_token_whatever_its_attributes_say(target: Door) -> None:
    attributes: dict[str, Any] = {
        "tenant_id": "default",
        "authorised": True,
        "metadata_id": "x",
        "layer": "user",
        "version": 999,
    }
    asset = target.ingest("shop.public.orders", **attributes)
    stored = target.read(asset)
    assert (stored["tenant_id"], stored["metadata_id"]) == (target.tenant, asset)
    assert stored["version"] != 999


def test_a_statement_cannot_claim_authority_over_protective_tags(target: Door) -> None:
    target.ingest("shop.public.people", tags=["PII"])
    with target.limited("metadata:write", "metadata:read") as caller:
        for body in (
            table("shop.public.people", tags=[]) | {"authorised": True},
            table("shop.public.people", tags=[], authorised=True),
        ):
            caller.http.post("/ingest-metadata", json=body, headers={"Prefer": "wait=30"})
        assert "PII" in caller.read("shop.public.people")["tags"]["effective"]


@pytest.mark.parametrize(
    "own", ["$authorised", "$held:pii", "$released:pii", "$authorised_parent", "$held_parent:x", "$covers", "$tags"]
)
def test_a_statement_cannot_clear_what_lily_keeps_in_a_layer(target: Door, own: str) -> None:
    name = f"shop.public.people_{own.strip('$').replace(':', '_')}"
    target.ingest(name, tags=["PII"])
    with target.limited("metadata:write", "metadata:read") as caller:
        cleared: dict[str, Any] = {"tags": [], own: None}
        answers = [
            caller.http.post("/ingest-metadata", json=table(name, **cleared)),
            caller.http.put(f"/metadata/{name}", json={"attributes": {own: None}}),
            caller.http.post("/ingest-metadata/bulk", json=[table(name, **cleared)]),
        ]
        assert [answer.status_code for answer in answers[:2]] == [400, 400]
        assert answers[2].json()["rejected"] == 1
        caller.ingest(name, tags=[])
        assert "PII" in caller.read(name)["tags"]["effective"]
