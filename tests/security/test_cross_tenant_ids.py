"""Ids of another tenant, in every route that takes one: nothing of it is shown, nothing of it changes.

The routes come from the OpenAPI document. A new one fails here until `Estate` has something of its kind to protect.
"""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from lily.model import ids
from tests.contract.access import create
from tests.contract.door import WAIT, Door, client, table
from tests.contract.incidents import found, put_secret, report
from tests.contract.routes import A_MAPPING, ALLOW, OPENLINEAGE
from tests.monte_carlo import anomaly
from tests.security.operations import OPERATIONS, parameters, send
from tests.shared_stack import Stack
from tests.webhook_tool import SECRET as SIGNING

SECRET = f"secret-{uuid.uuid4().hex}"  # in whatever the tenant describes in words
ORDERS = "shop.public.orders"
JOB = "job:n/j"
RUN = str(OPENLINEAGE["run"]["runId"])  # type: ignore[index]
# The operator's, not the tenant's: documents of the API itself. A webhook has no token; its signature is tested beside.
PUBLIC = frozenset({"GET /schemas/{name}", "POST /webhook/{source}"})
WITH_ID = [name for name in OPERATIONS if parameters(name, "path") and name not in PUBLIC]
# A name is the tenant's own, so a caller who states or asks something about it is served about its own.
OWN_NAMES = ("PUT /webhook-secrets/", "/users/{name}/disable", "PUT /refresh-schedules/", "/enforce/")
# What the tenant stated, which nobody else can have changed. The rest also changes by itself, such as notifications.
STATED = (
    "/metadata", "/tags", "/propagation-rules", "/quality-policies", "/policies", "/roles", "/users",
    "/scraper-policies", "/engine-mappings", "/subscriptions", "/mentions", "/notifications/mutes", "/webhook-mappings",
    "/webhook-secrets", "/refresh-schedules", "/settings",
)  # fmt: skip


SIGNED = {"secrets": [SIGNING]}


class Estate:
    """A tenant that has one of everything. `ids` are values of path parameters by the first segments of the path."""

    def __init__(self, door: Door) -> None:
        self.door = door
        asset = door.ingest(ORDERS, description=SECRET, tags=["PII"])
        receipt = door.http.post("/ingest-metadata", json=table(ORDERS), headers=WAIT).headers["Lily-Receipt"]
        lineage = door.http.post("/api/v1/lineage", json=OPENLINEAGE, headers=WAIT)
        assert lineage.status_code == 200, lineage.text
        put_secret(door)
        report(door, anomaly(ORDERS))
        incident = found(door)[0]["incident_id"]
        notification = found(door, "/notifications")[0]["id"]
        with door.limited("metadata:write") as weak:
            weak.change("POST", "/ingest-metadata", table(ORDERS, tags=[]))
        pending = found(door, "/protections/pending")[0]["id"]
        created = {path: create(door, path, body) for path, body in self._bodies().items()}
        assert door.http.put("/refresh-schedules/shop", json={}).status_code in {200, 201}
        run = door.http.post("/refresh-schedules/shop/run")
        assert run.status_code < 300, run.text
        named = {path: {"name": str(one["name"])} for path, one in created.items() if "name" in one}
        numbered = {path: {"id": str(one["id"])} for path, one in created.items() if "id" in one}
        self.ids: dict[str, dict[str, str]] = {
            **named,
            **numbered,
            "/metadata": {"id": asset, "tag": "PII"},
            "/lineage": {"id": asset},
            "/jobs": {"id": ids.asset_id(door.tenant, JOB)},
            "/runs": {"id": RUN},
            "/propagations": {"id": receipt},
            "/incidents": {"id": incident},
            "/notifications": {"id": notification},
            "/protections/pending": {"id": str(pending)},
            "/notifications/mutes": numbered["/notifications/mutes"],
            "/webhook-secrets": {"source": "monte-carlo"},
            "/refresh-schedules": {"data_source": "shop"},
            "/refresh-runs": {"run_id": str(run.json()["run_id"])},
            "/enforce": {"namespace": "shop.public", "table": "orders", "service": "trino", "key": "of-the-caller"},
        }

    def _bodies(self) -> dict[str, Any]:
        return {
            "/tags": {"name": "Vault"},
            "/propagation-rules": {"name": "rule", "attribute": "owner_team", "mode": "set-if-empty"},
            "/quality-policies": {"asset": ORDERS, "policy_type": "deleted_asset"},
            "/policies": {**ALLOW, "name": SECRET},
            "/roles": {"name": "role"},
            "/users": {"name": "user"},
            "/scraper-policies": {"name": SECRET, "scraper_group": "g", "sources": ["s"]},
            "/engine-mappings": {"name": SECRET, "data_source": "s", "engine_name": "pg.a", "asset_name": "a"},
            "/channels": {"name": "channel", "type": "kafka", "config": {}},
            "/subscriptions": {"name": SECRET, "channel": "channel", "destination": "d"},
            "/mentions": {"name": "mention", "handles": {"slack": f"@{SECRET}"}},
            "/notifications/mutes": {"kind": "tag.*"},
            "/webhook-mappings": A_MAPPING,
            "/enforcement-targets": {"name": "target", "type": "topic", "data_source": "none", "config": SIGNED},
        }

    def values(self, operation: str) -> dict[str, str] | None:
        """For the path of an operation; None if the estate has nothing of its kind."""
        path = operation.partition(" ")[2]
        return next((self.ids[start] for start in sorted(self.ids, reverse=True) if path.startswith(start)), None)

    def stated(self) -> dict[str, Any]:
        return {path: _lasting(self.door.http.get(path).json()) for path in STATED}


def _lasting(value: Any) -> Any:
    """Without what changes by itself."""
    if isinstance(value, dict):
        return {key: _lasting(one) for key, one in value.items() if key not in {"fresh_as_of", "at_risk"}}
    return [_lasting(one) for one in value] if isinstance(value, list) else value


def _late(operation: str) -> bool:
    """What states something of the caller's own under such a name comes last."""
    return operation.startswith(("PUT ", "POST /users/"))


class Attack:
    """Every operation once, by an administrator of another tenant, with the ids of the estate."""

    def __init__(self, estate: Estate, other: httpx.Client) -> None:
        self.before = estate.stated()
        self.answers: dict[str, httpx.Response] = {}
        for operation in sorted(WITH_ID, key=_late):
            if (values := estate.values(operation)) is not None:
                self.answers[operation] = send(other, operation, values)
        self.after = estate.stated()


@pytest.fixture(scope="module")
def attack(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Attack]:
    (mine, my_token), (_, their_token) = make_tenant(), make_tenant()
    with client(stack, my_token) as me, client(stack, their_token) as them:
        yield Attack(Estate(Door(stack, mine, my_token, me)), them)


@pytest.mark.parametrize("operation", WITH_ID)
def test_an_id_of_another_tenant_does_not_exist(attack: Attack, operation: str) -> None:
    assert operation in attack.answers, f"create something in `Estate` for {operation}"
    answer = attack.answers[operation]
    assert SECRET not in answer.text
    assert answer.status_code < 500, answer.text
    if not any(own in operation for own in OWN_NAMES):
        assert answer.status_code in {400, 404, 409, 422}, answer.text  # as for an id that nobody has


def test_nothing_of_the_other_tenant_changed(attack: Attack) -> None:
    assert attack.after == attack.before
    assert SECRET in str(attack.before)
