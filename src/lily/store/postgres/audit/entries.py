"""Entries of the audit: written in the transaction of what they record, and read page by page."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

SHOWN = (
    "number",
    "at",
    "actor",
    "token_id",
    "address",
    "correlation",
    "action",
    "subject",
    "detail",
    "previous_hash",
    "hash",
)


class AuditEntry(NamedTuple):
    tenant: str
    principal: str
    action: str
    entity: str
    detail: dict[str, Any]

    def parameters(self) -> dict[str, Any]:
        return {**self._asdict(), "detail": Jsonb(self.detail)}


class Filters(NamedTuple):
    """`since` is included, `until` is not. An action that ends with a dot stands for all that begin with it."""

    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    since: str | None = None
    until: str | None = None


def insert_audit(connection: psycopg.Connection[Any], entries: Iterable[AuditEntry]) -> None:
    """In the caller's transaction."""
    rows = [entry.parameters() for entry in entries]
    if rows:
        connection.cursor().executemany(query("audit/insert"), rows)


async def record(database: Database, entry: AuditEntry) -> None:
    """An entry about what is not a change in PostgreSQL. If the connection is lost at the commit it may be written
    twice. Raises StoreUnavailable."""
    await database.fetch(entry.tenant, query("audit/insert") + " returning true", entry.parameters())


async def read_entries(
    database: Database, tenant: str, filters: Filters, *, below: int | None, limit: int
) -> list[dict[str, Any]]:
    """Newest first, with numbers below `below`. Raises StoreUnavailable."""
    parameters = {**filters._asdict(), "below": below, "limit": limit}
    rows = await database.fetch(tenant, query("audit/list"), parameters)
    return [dict(zip(SHOWN, row, strict=True)) for row in rows]
