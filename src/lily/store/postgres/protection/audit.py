"""The audit of authorised removals of protective tags, written in the transaction that removes them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from lily.store.postgres.queries import query


class AuditEntry(NamedTuple):
    tenant: str
    principal: str
    action: str
    entity: str
    detail: dict[str, Any]


def insert_audit(connection: psycopg.Connection[Any], entries: Iterable[AuditEntry]) -> None:
    rows = [{**entry._asdict(), "detail": Jsonb(entry.detail)} for entry in entries]
    if rows:
        connection.cursor().executemany(query("protection/insert_audit"), rows)
