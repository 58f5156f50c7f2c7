"""Statements of changes that administrators make and that a job carries out."""

from functools import cache

from psycopg import sql

from lily.store.postgres.queries import query


@cache
def recorded_and_queued(name: str) -> sql.Composed:
    """The named statement, whose `decided` (name, before, after) is then published, audited and queued as a job."""
    recorded = sql.SQL(query("outbox/record_decided"))
    return sql.SQL(query(name)) + sql.SQL(query("outbox/record_and_queue")).format(recorded=recorded)
