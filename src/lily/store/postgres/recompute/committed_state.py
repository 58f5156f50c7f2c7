"""One committed state of the database to recompute from."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection, IsolationLevel

from lily.store.postgres.connection import connect


@contextmanager
def committed_state(database_url: str) -> Iterator[Connection[Any]]:
    """A connection that reads one snapshot and writes nothing."""
    with connect(database_url, "lily-recompute") as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            yield connection
