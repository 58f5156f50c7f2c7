"""Quality policies as the API administers them. Each change is published, audited, and queues the judgement."""

from collections.abc import Mapping
from typing import Any, Literal

from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.quality.policies import QualityPolicy
from lily.store.postgres.outbox.decided import recorded_and_queued
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

TASK = "judge-quality"  # of the jobs that judge assets
GROUP = "quality"  # one judgement of a tenant at a time
KIND = "quality-policy"  # of the changes of policies, on `policy-events`

Object = dict[str, Any]
Change = Literal["create", "replace", "delete"]
_ACTIONS: Mapping[Change, str] = {"create": "created", "replace": "replaced", "delete": "deleted"}


async def change(
    database: Database,
    principal: Principal,
    how: Change,
    key: str,
    policy: QualityPolicy | None,
    *,
    correlation: str,
    most: int | None = None,
) -> bool:
    """False if nothing was created, found or deleted. `policy` is None for a deletion; a creation does nothing if the
    tenant has `most` policies."""
    parameters: Object = {
        "key": key,
        "group": GROUP,
        "task": TASK,
        "arguments": Jsonb({"policy": key}),
        "kind": KIND,
        "by": principal.name,
        "action": f"{KIND}.{_ACTIONS[how]}",
        "correlation": correlation,
    }
    if policy is not None:
        parameters |= {
            "asset_id": policy.asset_id,
            "policy_type": policy.policy_type,
            "body": Jsonb(policy.as_dict()),
            "delay_hours": policy.delay_hours,
            "most": most,
        }
    return bool(await database.fetch(principal.tenant, recorded_and_queued(f"quality/{how}"), parameters))


async def find(database: Database, tenant: str, key: str) -> Object | None:
    rows = await database.fetch(tenant, query("quality/list"), {"key": key, "beyond": "", "limit": 1})
    return rows[0][1] if rows else None


async def page(database: Database, tenant: str, beyond: str, limit: int) -> list[tuple[str, Object]]:
    """Keys and policies after the key `beyond`."""
    rows = await database.fetch(tenant, query("quality/list"), {"key": None, "beyond": beyond, "limit": limit})
    return [(key, body) for key, body in rows]
