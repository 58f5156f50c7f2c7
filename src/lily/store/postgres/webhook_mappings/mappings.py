"""The mappings of a tenant: how the messages of its sources become incidents."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal, LiteralString, NamedTuple

from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Fetches

MAX_MAPPINGS = 200  # of a tenant

How = Literal["create", "replace", "delete"]
Object = dict[str, Any]
_ACTIONS: Mapping[How, str] = {"create": "created", "replace": "replaced", "delete": "deleted"}


class StoredMapping(NamedTuple):
    body: Object
    created_at: datetime
    updated_at: datetime


async def find_mapping(database: Fetches, tenant: str, name: str) -> Object | None:
    """Raises what `database` raises."""
    rows = await database.fetch(tenant, query("webhook_mappings/find"), {"name": name})
    return rows[0][0] if rows else None


async def mappings_of(database: Database, tenant: str) -> list[StoredMapping]:
    """By name. Raises StoreUnavailable."""
    rows = await database.fetch(tenant, query("webhook_mappings/list"), {"limit": MAX_MAPPINGS})
    return [StoredMapping(*row) for row in rows]


async def change_mapping(
    database: Database, principal: Principal, how: How, name: str, body: Object | None = None
) -> bool:
    """False if there is one already, or MAX_MAPPINGS of others (create), or none (replace, delete). Raises
    StoreUnavailable."""
    parameters = {
        "name": name,
        "body": None if body is None else Jsonb(body),
        "by": principal.name,
        "action": f"webhook-mapping.{_ACTIONS[how]}",
        "most": MAX_MAPPINGS,
    }
    ((changed, _),) = await database.fetch(principal.tenant, _statement(how), parameters)
    return bool(changed)


@cache
def _statement(how: How) -> LiteralString:
    return query(f"webhook_mappings/{how}") + query("webhook_mappings/record_change")
