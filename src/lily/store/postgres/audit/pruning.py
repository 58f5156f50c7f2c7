"""Deletes audit entries by age, if the operator wants that. The chain stays verifiable."""

from datetime import timedelta
from typing import Any

from psycopg import Connection

from lily.store.postgres.queries import query

MOST = 50_000  # entries of a tenant in one turn, which holds the locks of the chains


def prune_audit(connection: Connection[Any], keep: timedelta | None) -> int:
    """Of all tenants; returns the number of entries. None keeps all."""
    if keep is None:
        return 0
    row = connection.execute(query("audit/prune"), {"keep": keep, "most": MOST}).fetchone()
    return int(row[0]) if row else 0
