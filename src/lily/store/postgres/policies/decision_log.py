"""The log of decisions. It is bounded: housekeeping deletes what is old."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

COLUMNS = (
    "id",
    "at",
    "by",
    "principal",
    "action",
    "plane",
    "asset_id",
    "effect",
    "policy_id",
    "reason",
    "version",
)


async def insert_decisions(database: Database, tenant: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Each row has the COLUMNS. Idempotent, by id."""
    await database.fetch(tenant, query("policies/decisions/insert"), {"rows": Jsonb(list(rows))})


async def read_decisions(
    database: Database,
    tenant: str,
    *,
    below: str | None,
    principal: str | None,
    effect: str | None,
    limit: int,
) -> list[dict[str, Any]]:
    """Newest first, older than the id `below`."""
    parameters = {"below": below, "principal": principal, "effect": effect, "limit": limit}
    rows = await database.fetch(tenant, query("policies/decisions/list"), parameters)
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def delete_old_decisions(connection: Connection[Any], keep: timedelta) -> int:
    return connection.execute(query("policies/decisions/delete_old"), [keep]).rowcount
