"""Whose failure an error is, and what a dead letter of the worker shows of it to the tenant."""

from typing import Any

import psycopg
from psycopg import Connection

from lily.model import ids
from lily.model.errors import LilyError


def shown_cause(error: Exception) -> tuple[str, str]:
    """The cause to show, and the correlation id to log the error with.

    The message of a LilyError is written for callers. Any other can quote statements, addresses and arguments, so the
    tenant sees the correlation id only.
    """
    correlation = ids.event_id()
    if isinstance(error, LilyError):
        return f"{type(error).__name__}: {error}", correlation
    return f"internal error; search the worker's log for the correlation id {correlation}", correlation


def is_of_the_work(error: psycopg.Error, connection: Connection[Any]) -> bool:
    """Whether the server refused what it was asked to do (it conflicts, takes too long or needs too much), and not the
    connection was lost. Then others on the same connection can go on."""
    return error.sqlstate is not None and not connection.broken and not connection.closed
