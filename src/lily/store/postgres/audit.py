"""Leaves a trace of what somebody did that takes protection away."""

from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def record(database: Database, principal: Principal, action: str, entity: str, detail: Mapping[str, Any]) -> None:
    """Raises StoreUnavailable if it cannot be written; then what it speaks of must not be done either."""
    entry = {
        "principal": principal.name,
        "action": action,
        "entity": entity,
        "detail": Jsonb(dict(detail)),
    }
    await database.fetch(principal.tenant, query("record_audit"), entry)
