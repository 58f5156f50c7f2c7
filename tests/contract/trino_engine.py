"""Trino as Lily sees it: a key, and the requests of the OPA plug-in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from lily.store.postgres.access.administration import create_token
from tests import trino_requests as opa
from tests.contract.access import create, policy
from tests.contract.door import Door

PEOPLE = "memory.default.people"


@dataclass(frozen=True)
class Engine:
    door: Door
    key: str

    def post(self, address: str, body: Any, key: str | None = None) -> httpx.Response:
        return httpx.post(f"{self.door.stack.url}/enforce/opa/k/{key or self.key}/{address}", json=body, timeout=60)

    def ask(self, address: str, body: Any) -> Any:
        answer = self.post(address, body)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    def masked(self, columns: Sequence[str], table: str = PEOPLE, **identity: Any) -> list[str]:
        """Those of the columns that are masked, asked for together; alone they are the same."""
        found = self.ask("batch-column-masking", opa.masks(table, dict.fromkeys(columns, "varchar"), **identity))
        return [columns[one["index"]] for one in found]


def engine_of(door: Door) -> Engine:
    """Ann reads everything in `memory`, and what is personal only masked."""
    for name, kind, parent in (
        ("memory", "database", ""),
        ("memory.default", "schema", "memory"),
        (PEOPLE, "table", "memory.default"),
    ):
        door.ingest(name, kind, **({"parent": parent} if parent else {}))
    create(door, "/policies", policy({"user": "ann"}, {"asset": "memory"}))
    create(door, "/policies", policy({"user": "*"}, {"tag": "PII"}, "mask", mask="show-last-4"))
    return Engine(door, create_token(door.stack.database, door.tenant, ["enforce:read"], user="trino"))
