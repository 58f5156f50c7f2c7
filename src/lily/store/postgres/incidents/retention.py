"""The history of incidents is kept for a time, that of unresolved ones as long as they are."""

from datetime import timedelta
from typing import Any

from psycopg import Connection

from lily.store.postgres.queries import query


def delete_old_history(connection: Connection[Any], keep: timedelta) -> int:
    """Of all tenants; returns the number of messages."""
    row = connection.execute(query("incidents/history/delete_old"), {"keep": keep}).fetchone()
    return int(row[0]) if row else 0
