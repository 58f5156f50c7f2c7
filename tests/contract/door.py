"""A tenant's way into the stack: a client with its token, and the few calls every test makes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg

from lily.store.postgres.access.administration import create_token
from tests.shared_stack import Stack

WAIT = {"Prefer": "wait=30"}


@dataclass(frozen=True)
class Door:
    stack: Stack
    tenant: str
    token: str
    http: httpx.Client

    def ingest(
        self, qualified_name: str, entity_type: str = "table", *, time: str | None = None, **attributes: Any
    ) -> str:
        """States an asset as its source would, waits until it can be read, and gives its id."""
        body = table(qualified_name, entity_type, **attributes)
        answer = self.http.post("/ingest-metadata", json=body | ({"time": time} if time else {}), headers=WAIT)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["metadata_id"])

    def read(self, reference: str) -> dict[str, Any]:
        answer = self.http.get(f"/metadata/{reference}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def change(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """A write that is waited for and applied."""
        answer = self.http.request(method, path, json=body, headers=WAIT)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    @contextmanager
    def limited(
        self, *scopes: str, user: str = "limited", ttl_seconds: int | None = None, scraper_group: str = ""
    ) -> "Iterator[Door]":
        """The same tenant with a token that may do less."""
        token = create_token(
            self.stack.database, self.tenant, scopes, user=user, ttl_seconds=ttl_seconds, scraper_group=scraper_group
        )
        with client(self.stack, token) as http:
            yield Door(self.stack, self.tenant, token, http)

    def token_ids(self, user: str) -> list[str]:
        with psycopg.connect(self.stack.database) as connection:
            asked = "select id::text from tokens where tenant_id = %s and user_name = %s"
            return [token_id for (token_id,) in connection.execute(asked, [self.tenant, user])]


def client(stack: Stack, token: str) -> httpx.Client:
    return httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def table(qualified_name: str, entity_type: str = "table", **attributes: Any) -> dict[str, Any]:
    name = qualified_name.rpartition(".")[2]
    return {"entity_type": entity_type, "attributes": {"name": name, "qualified_name": qualified_name} | attributes}


def codes(answer: httpx.Response) -> set[str]:
    """The codes of an error answer, whose shape is checked on the way."""
    errors = answer.json()["errors"]
    assert errors
    assert all(set(error) >= {"code", "description", "entity"} for error in errors)
    return {error["code"] for error in errors}


def names(items: Iterable[dict[str, Any]]) -> list[str]:
    return [item["attributes"]["qualified_name"] for item in items]
