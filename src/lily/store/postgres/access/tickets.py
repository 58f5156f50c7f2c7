"""Tickets as housekeeping meets them: it removes those that nobody showed in time."""

from typing import Any

from psycopg import Connection

from lily.store.postgres.queries import query


def forget_expired_tickets(connection: Connection[Any]) -> int:
    return connection.execute(query("access/forget_tickets")).rowcount
