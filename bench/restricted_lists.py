"""Lists of 100 for a user whom policies restrict, against the same lists for one whom none names.

The policies deny one of the schemas with everything below it, a tag, a data source and a condition on the owner: what
SQL decides from the row, what it decides from ancestors and derived tags, and what is filtered afterwards.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from bench.events import SCHEMAS, TENANT
from bench.findings import Finding, Outcome, Round, at_most, column, ratios
from bench.http_load import drive, request
from bench.run import Run
from bench.stack import BenchStack
from lily.store.postgres.access.administration import create_token

CONNECTIONS = 2
RESTRICTED, UNRESTRICTED = "bench-restricted", "bench-unrestricted"
DENIED: dict[str, dict[str, Any]] = {
    "asset": {"resources": [{"asset": "warehouse.shop_1"}]},
    "tag": {"resources": [{"tag": "PII"}, {"tag": "Salary"}]},
    "source": {"resources": [{"data_source": "payroll"}, {"entity_type": "dashboard"}]},
    "owner": {"resources": [{"entity_type": "table"}], "conditions": {"attributes": {"asset": {"owner": "board"}}}},
}


def measure(run: Run) -> Outcome:
    stack = run.filled(run.sizes.pool)
    users = {
        user: {"authorization": f"Bearer {create_token(stack.database_url, TENANT, ['metadata:read'], user=user)}"}
        for user in (RESTRICTED, UNRESTRICTED)
    }
    with _policies(stack):
        for headers in users.values():  # opens pools and prepares statements
            drive(stack.url, _lists(headers), connections=CONNECTIONS, seconds=1)
        rounds = [_round(run, stack, users) for _ in run.rounds()]
    what, against = "a list of 100 for a restricted user", "the same for an unrestricted one"
    findings = [
        Finding(what=what, against=against, goal=at_most(1.5), values=ratios(rounds, RESTRICTED, UNRESTRICTED)),
        Finding(what=f"{what}: p50", unit="ms", values=column(rounds, RESTRICTED)),
        Finding(what="a list of 100 for an unrestricted user: p50", unit="ms", values=column(rounds, UNRESTRICTED)),
    ]
    return Outcome(findings, rounds, {"assets": run.sizes.pool, "policies": len(DENIED)})


def _round(run: Run, stack: BenchStack, users: dict[str, dict[str, str]]) -> Round:
    found: Round = {}
    for user, headers in users.items():
        run.say(user)
        seen = drive(stack.url, _lists(headers), connections=CONNECTIONS, seconds=run.sizes.http_seconds / 2)
        found |= {user: seen["p50_ms"], f"{user}_run": seen}
    return found


def _lists(headers: dict[str, str]) -> list[str]:
    """The first page of everything, and the children of schemas."""
    paths = [f"/metadata?limit=100&parent=warehouse.shop_{random.randrange(2, SCHEMAS)}" for _ in range(200)]
    return [request("GET", path, headers) for path in (*paths, *["/metadata?limit=100&entity_type=table"] * 200)]


@contextmanager
def _policies(stack: BenchStack) -> Iterator[None]:
    headers = {"Authorization": f"Bearer {stack.token}"}
    with httpx.Client(base_url=stack.url, headers=headers, timeout=120) as http:
        for name, fields in DENIED.items():
            body = {"id": f"bench-{name}", "name": name, "subjects": [{"user": RESTRICTED}], "actions": ["READ"]}
            http.post("/policies", json=body | {"effect": "deny", **fields}).raise_for_status()
        try:
            yield
        finally:
            for name in DENIED:
                http.delete(f"/policies/bench-{name}").raise_for_status()
