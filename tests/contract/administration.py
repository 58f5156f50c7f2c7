"""Every operation that changes something, as `test_audit.py` needs it: a call that succeeds for what administrators do,
and the reason for those that are not audited.

An operation of the OpenAPI document that is in neither fails the test.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.contract.access import create, policy
from tests.contract.door import Door, table
from tests.contract.flows import connect, ingest_all, propagate
from tests.contract.routes import A_MAPPING, ALLOW, OPEN, RULE
from tests.contract.test_dead_letters import append_raw, letters
from tests.contract.test_subscriptions import SECRET, add_channel
from tests.contract.test_warehouse import PEOPLE, digest_of, eventually, script
from tests.notification_receiver import Receiver

DATA = "a statement about assets, lineage, usage or incidents: its history has who stated it"
READING = "it changes nothing"
WORK = "what a scraper, an engine or a reader does in its ordinary work"

ORDINARY = {
    "POST /ingest-metadata": DATA,
    "POST /ingest-metadata/bulk": DATA,
    "PUT /metadata/{id}": DATA,
    "DELETE /metadata/{id}": DATA,
    "POST /metadata/{id}/restore": DATA,
    "PUT /metadata/by-name": DATA,
    "DELETE /metadata/by-name": DATA,
    "POST /metadata/{id}/tags": DATA,
    "DELETE /metadata/{id}/tags/{tag}": DATA,
    "POST /usage": DATA,
    "POST /lineage": DATA,
    "DELETE /lineage": DATA,
    "POST /lineage/sql": DATA,
    "POST /api/v1/lineage": DATA,
    "POST /api/v1/lineage/batch": DATA,
    "POST /webhook/{source}": DATA,
    "POST /incidents/{id}/acknowledge": DATA,
    "POST /incidents/{id}/resolve": DATA,
    "POST /metadata/batch-get": READING,
    "POST /propagations/dry-run": READING,
    "POST /policy/check": READING,
    "POST /policy/explain": READING,
    "POST /policy/dry-run": READING,
    "POST /enforcement-targets/{name}/plan": READING,
    "POST /webhook-mappings/{name}/test": READING,
    "POST /notifications/{id}/acknowledge": WORK,
    "POST /ws/tickets": WORK,
    "POST /refresh-runs/take": WORK,
    "POST /refresh-runs/{run_id}/start": WORK,
    "POST /refresh-runs/{run_id}/finish": WORK,
    **{
        f"POST /enforce/opa/{key}{name}": READING
        for key in ("", "k/{key}/")
        for name in ("allow", "batch", "row-filters", "column-masking", "batch-column-masking")
    },
}


@dataclass(frozen=True)
class Act:
    """One call of an administrator. `body` may need the stack; `named` is the value of the path's parameter, or finds
    it, if it is not what the act before returned as its id."""

    body: Any = None
    named: str | Callable[[Door], str] = ""
    prepare: Callable[[Door, Receiver], Any] | None = None


@dataclass
class Session:
    """An administrator who does one thing after the other, each under a correlation id of its own."""

    door: Door
    receiver: Receiver
    answers: dict[str, httpx.Response] = field(default_factory=dict)

    def run(self) -> None:
        for operation, act in ACTS.items():
            body = act.prepare(self.door, self.receiver) if act.prepare else act.body
            named = act.named if isinstance(act.named, str) else act.named(self.door)
            self.answers[operation] = self._send(operation, named, body)

    def _send(self, operation: str, named: str, body: Any) -> httpx.Response:
        method, _, template = operation.partition(" ")
        before, _, rest = template.partition("{")
        path = before + (named or self._newest_id(before)) + rest.partition("}")[2] if rest else before
        headers = {"X-Correlation-Id": operation}
        return self.door.http.request(method, path.replace("{tag}", "PII"), json=body, headers=headers)

    def _newest_id(self, collection: str) -> str:
        return str(self.answers[f"POST {collection.rstrip('/')}"].json()["id"])


def collection(path: str, key: str, name: str, body: Any, changed: Any) -> dict[str, Act]:
    one = f"{path}/{{{key}}}"
    return {f"POST {path}": Act(body), f"PUT {one}": Act(changed, name), f"DELETE {one}": Act(named=name)}


def refused_letter(door: Door, _: Receiver) -> Any:
    append_raw(door, b"{ no json")
    return {"ids": [letters(door, 1)[0]["id"]]}


def derived_tag(door: Door, _: Receiver) -> Any:
    ingest_all(door, table("people", tags=["PII"]), table("mart"))
    connect(door, ("people", "mart"))
    propagate(door)
    return {"reason": "tokenised"}


def suppressed_tag(door: Door, _: Receiver) -> None:
    eventually(lambda: door.read("mart")["tags"]["effective"], [])


def held_tags(door: Door, _: Receiver) -> Any:
    """Three tables whose source no longer names their tag, without authority."""
    names = ("held.a", "held.b", "held.c")
    ingest_all(door, *(table(name, tags=["PII"]) for name in names))
    with door.limited("metadata:write") as weak:
        ingest_all(weak, *(table(name, tags=[]) for name in names))
    return {"ids": [pending_of("held.a")(door)]}


def pending_of(name: str) -> Callable[[Door], str]:
    def found(door: Door) -> str:
        items = door.http.get("/protections/pending").json()["items"]
        return next(str(item["id"]) for item in items if item.get("asset_name") == name)

    return found


def channel(door: Door, receiver: Receiver) -> Any:
    """Another one exists already, for the acts that need a channel."""
    assert add_channel(door, receiver).status_code == 201
    config = {"destinations": {"ops": receiver.at("ops")}, "secrets": [SECRET]}
    return {"name": "Second", "type": "webhook", "config": config}


def warehouse(door: Door, _: Receiver) -> Any:
    """A target with something to do, so that there is a script to confirm."""
    door.ingest(PEOPLE, data_source="shop")
    create(door, "/policies", policy({"role": "analyst"}, {"data_source": "shop"}, name="read"))
    return {"name": "warehouse", "type": "snowflake", "data_source": "shop", "config": {}}


def present_script(door: Door, _: Receiver) -> Any:
    eventually(lambda: door.http.get("/enforcement-targets/warehouse").json()["state"], "waiting")
    return {"digest": digest_of(script(door))}


SUBSCRIPTION = {"name": "s", "channel": "hook", "destination": "ops", "filters": {"kinds": ["tag.*"]}}

ACTS: dict[str, Act] = {
    **collection("/policies", "id", "p", ALLOW | {"id": "p"}, ALLOW | {"effect": "deny"}),
    **collection("/roles", "name", "r", {"name": "r"}, {"name": "r", "groups": ["g"]}),
    **collection("/users", "name", "u", {"name": "u"}, {"name": "u", "groups": ["g"]}),
    "POST /users/{name}/disable": Act(named="u"),
    "DELETE /users/{name}/disable": Act(named="u"),
    **collection(
        "/scraper-policies",
        "id",
        "s",
        {"id": "s", "name": "s", "scraper_group": "g", "sources": ["s"]},
        {"name": "s", "scraper_group": "g", "sources": ["other"]},
    ),
    **collection(
        "/engine-mappings",
        "id",
        "m",
        {"id": "m", "name": "m", "data_source": "s", "engine_name": "pg.a", "asset_name": "a"},
        {"name": "m", "data_source": "s", "engine_name": "pg.a", "asset_name": "b"},
    ),
    **collection(
        "/quality-policies",
        "id",
        "q",
        {"id": "q", "asset": OPEN, "policy_type": "deleted_asset"},
        {"asset": OPEN, "policy_type": "deleted_asset", "severity": "critical"},
    ),
    **collection("/tags", "name", "Team", {"name": "Team"}, {"direction": "both"}),
    **collection("/propagation-rules", "name", "r", RULE | {"mode": "set-if-empty"}, {"max_depth": 2}),
    "PUT /settings": Act({"on_delete": "cut"}),
    **collection("/webhook-mappings", "name", "tickets", A_MAPPING, A_MAPPING | {"description": "new"}),
    "PUT /webhook-secrets/{source}": Act({"secret": SECRET}, "monte-carlo"),
    "DELETE /webhook-secrets/{source}": Act(named="monte-carlo"),
    "POST /channels": Act(prepare=channel),
    "PUT /channels/{name}": Act({"type": "webhook", "per_second": 9}, "second"),
    "POST /channels/{name}/test": Act({"destination": "ops"}, "second"),
    "DELETE /channels/{name}": Act(named="second"),
    **collection("/subscriptions", "id", "", SUBSCRIPTION, SUBSCRIPTION | {"name": "other"}),
    **collection(
        "/mentions",
        "name",
        "m",
        {"name": "m", "handles": {"slack": "@m"}},
        {"name": "m", "handles": {"slack": "@other"}},
    ),
    "POST /notifications/mutes": Act({"kind": "tag.*"}),
    "DELETE /notifications/mutes/{id}": Act(),
    "POST /enforcement-targets": Act(prepare=warehouse),
    "POST /enforcement-targets/{name}/confirm": Act(named="warehouse", prepare=present_script),
    "POST /enforcement-targets/{name}/apply": Act(named="warehouse"),
    "DELETE /enforcement-targets/{name}": Act(named="warehouse"),
    "PUT /refresh-schedules/{data_source}": Act({"every": "2h"}, "shop"),
    "POST /refresh-schedules/{data_source}/run": Act(named="shop"),
    "DELETE /refresh-schedules/{data_source}": Act(named="shop"),
    "POST /dead-letters/replay": Act(prepare=refused_letter),
    "POST /metadata/{id}/tags/{tag}/suppress": Act(named="mart", prepare=derived_tag),
    "DELETE /metadata/{id}/tags/{tag}/suppress": Act(named="mart", prepare=suppressed_tag),
    "POST /protections/pending/confirm": Act(prepare=held_tags),
    "POST /protections/pending/{id}/confirm": Act(named=pending_of("held.b")),
    "POST /protections/pending/{id}/undo": Act(named=pending_of("held.c")),
}
