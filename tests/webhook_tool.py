"""A tool that gets decisions by messages: verifies each with the standard's own library, and drops repeats."""

import base64
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from standardwebhooks import Webhook

from tests.badserver import Asked, BadServer, Reply, bad_server

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(bytes(range(32, 64))).decode()


@contextmanager
def accepting_tool() -> Iterator[BadServer]:
    with bad_server() as found:
        found.will(Reply(200))
        yield found


def verified(asked: Asked, secret: str = SECRET) -> dict[str, Any]:
    """The body. Raises WebhookVerificationError."""
    found: dict[str, Any] = Webhook(secret).verify(asked.body, asked.headers)
    assert found["data"]["id"] == asked.headers["webhook-id"]
    return found


def known_tables(received: Iterable[Asked]) -> dict[str, list[dict[str, Any]]]:
    """What the tool enforces, by table, after it has received these."""
    tables: dict[str, list[dict[str, Any]]] = {}
    seen: set[str] = set()
    for asked in received:
        message = verified(asked)
        if message["type"] == "target.removed":
            tables, seen = {}, set()
            continue
        if message["data"]["id"] in seen:
            continue
        seen.add(message["data"]["id"])
        name = ".".join(message["data"]["table"]["path"])
        if message["type"] == "table.withdrawn":
            tables.pop(name, None)
        else:
            tables[name] = message["data"]["decisions"]
    return tables
