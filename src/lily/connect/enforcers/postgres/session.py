"""A connection to the target, and its errors as Lily's."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from lily.connect.enforcers.postgres.urls import without_own_credentials
from lily.model.errors import LilyError, Terminal, Transient

Connection = psycopg.Connection[Any]
# What passes by itself. `tuple concurrently updated` is an InternalError: two changes of one table's privileges.
_PASSING = (
    errors.QueryCanceled,
    errors.LockNotAvailable,
    errors.DeadlockDetected,
    errors.SerializationFailure,
    errors.InternalError_,
    psycopg.OperationalError,
)
_REFUSED = ("authentication failed", "does not exist", "pg_hba.conf", "no password supplied", "not permitted to log in")


# A message may have several statements, and PostgreSQL limits the time of each.
_STATEMENTS_AT_ONCE = 5


class BoundedConnection(psycopg.Connection[Any]):
    """Raises OperationalError if the server does not respond at all. PostgreSQL's own limits need one that works: a
    server that hangs, or a network that swallows packets, would hold the worker for ever."""

    silence_seconds = 300.0

    def wait(self, *arguments: Any, **named: Any) -> Any:
        timer = threading.Timer(self.silence_seconds, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            return super().wait(*arguments, **named)
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        """Ends the wait of the other thread, which finds the connection closed."""
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self.pgconn.socket)) as ours:
            ours.shutdown(socket.SHUT_RDWR)


class Session:
    """Opened by the first use, and again after it was lost."""

    def __init__(self, url: str, *, connect_seconds: int, lock_seconds: float, statement_seconds: float) -> None:
        self._url, self._connect_seconds = url, connect_seconds
        self._limits = {"lock_timeout": lock_seconds, "statement_timeout": statement_seconds}
        self._connection: Connection | None = None
        self.target = _described(url)

    @contextmanager
    def use(self) -> Iterator[Connection]:
        """In autocommit. Raises Transient or Terminal for what goes wrong inside."""
        try:
            if self._connection is None or self._connection.closed:
                self._connection = self._opened()
            yield self._connection
        except psycopg.Error as error:
            raise self.translated(error) from error
        finally:
            if self._connection is not None and self._connection.broken:
                self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def translated(self, error: psycopg.Error) -> LilyError:
        text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, errors.InsufficientPrivilege):
            return Terminal(f"The role of Lily lacks a privilege in {self.target}: {text}.")
        if is_passing(error) and not any(part in str(error) for part in _REFUSED):
            return Transient(f"{self.target} does not respond in time, or is busy: {text}. It is tried again.")
        return Terminal(f"{self.target} refuses: {text}. Correct it there, or the url of the target.")

    def _opened(self) -> Connection:
        connection = BoundedConnection.connect(
            self._url,
            autocommit=True,
            connect_timeout=self._connect_seconds,
            application_name="lily enforcer",
            **without_own_credentials(self._url),
        )
        connection.silence_seconds = _STATEMENTS_AT_ONCE * self._limits["statement_timeout"]
        connection.prepare_threshold = None
        # Without a search path PostgreSQL writes every name in full, so definitions can be compared.
        settings = {"search_path": "pg_catalog", "timezone": "UTC", "standard_conforming_strings": "on"}
        settings |= {name: f"{int(seconds * 1000)}ms" for name, seconds in self._limits.items()}
        for name, value in settings.items():
            connection.execute("select set_config(%s, %s, false)", [name, value])
        return connection


def is_passing(error: psycopg.Error) -> bool:
    return isinstance(error, _PASSING)


def _described(url: str) -> str:
    """Host and database. Never the password."""
    parts = conninfo_to_dict(url)
    return f"PostgreSQL {parts.get('host', 'localhost')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"
