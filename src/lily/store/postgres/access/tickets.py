"""Deletes WebSocket tickets that expired without being used."""

from typing import Any

from psycopg import Connection

from lily.store.postgres.queries import query


def delete_expired_tickets(connection: Connection[Any]) -> int:
    return connection.execute(query("access/delete_expired_tickets")).rowcount
