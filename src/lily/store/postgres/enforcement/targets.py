"""Targets as the API administers them: it stores the encrypted configuration and cannot read it back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.store.postgres.outbox.decided import recorded_and_queued
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

TASK = "enforce"  # of the jobs that bring a target in line
KIND = "enforcement-target"  # of the decisions about targets, on `policy-events`
DRIFT = "enforcement-drift"  # of the reports of drift, on `policy-events`

Object = dict[str, Any]


def group_of(key: str) -> str:
    """The group of a target's jobs, and the name of its schedule: they run one at a time."""
    return f"enforcement/{key}"


@dataclass(frozen=True, slots=True)
class NewTarget:
    """`key` is the folded name. The configuration is encrypted."""

    key: str
    name: str
    type: str
    data_source: str
    roles: Mapping[str, Mapping[str, str]]
    wrapped_key: bytes
    sealed: bytes


class RunScript(NamedTuple):
    """What a person reports: the script of that digest was run. `request` identifies the comparison."""

    key: str
    digest: str
    request: str


async def add(database: Database, principal: Principal, target: NewTarget, correlation: str) -> bool:
    """False if there is one of that name. Otherwise it is brought in line as soon as a worker can."""
    parameters = {
        "name": target.name,
        "type": target.type,
        "data_source": target.data_source,
        "roles": Jsonb(target.roles),
        "wrapped_key": target.wrapped_key,
        "sealed": target.sealed,
    }
    changed = _changed(principal, "added", target.key, correlation)
    return bool(
        await database.fetch(principal.tenant, recorded_and_queued("enforcement/targets/add"), parameters | changed)
    )


async def remove(database: Database, principal: Principal, key: str, correlation: str, *, forget: bool = False) -> bool:
    """False if there is none. The worker reverts what was applied, unless `forget`, then deletes the target."""
    changed = _changed(principal, "forgotten" if forget else "removed", key, correlation) | {"forget": forget}
    return bool(await database.fetch(principal.tenant, recorded_and_queued("enforcement/targets/remove"), changed))


async def find(database: Database, tenant: str, key: str) -> Object | None:
    rows = await database.fetch(tenant, query("enforcement/targets/list"), {"key": key, "beyond": "", "limit": 1})
    return rows[0][1] if rows else None


async def page(database: Database, tenant: str, beyond: str, limit: int) -> list[tuple[str, Object]]:
    """Keys and targets after the key `beyond`."""
    rows = await database.fetch(
        tenant, query("enforcement/targets/list"), {"key": None, "beyond": beyond, "limit": limit}
    )
    return [(key, body) for key, body in rows]


async def request(
    database: Database, tenant: str, key: str, plan: str | None = None, script: str | None = None
) -> str | None:
    """Queues a run, or with `plan`, the id of the request, a plan, or with `script`, its kind, a script. Returns the
    time; None if there is no such target."""
    parameters = {"key": key, "group": group_of(key), "task": TASK, "plan": plan, "script": script}
    rows = await database.fetch(tenant, query("enforcement/targets/request"), parameters)
    return rows[0][0] if rows else None


async def confirm(database: Database, principal: Principal, run: RunScript, correlation: str) -> bool:
    """Queues the comparison of a digest with that of the present script: the plan of the request has the outcome. False
    if there is no such target."""
    changed = _changed(principal, "confirmed", run.key, correlation) | {"digest": run.digest}
    changed["arguments"] = Jsonb({"target": run.key, "plan": run.request, "script": "apply", "digest": run.digest})
    return bool(await database.fetch(principal.tenant, recorded_and_queued("enforcement/targets/confirm"), changed))


async def script(database: Database, tenant: str, key: str, plan: str) -> str | None:
    """The script of a request; None while it has none."""
    rows = await database.fetch(tenant, query("enforcement/targets/script"), {"key": key, "request": plan})
    return rows[0][0] if rows else None


def _changed(principal: Principal, action: str, key: str, correlation: str) -> Object:
    return {
        "key": key,
        "group": group_of(key),
        "task": TASK,
        "arguments": Jsonb({"target": key}),
        "kind": KIND,
        "by": principal.name,
        "action": f"{KIND}.{action}",
        "correlation": correlation,
    }
