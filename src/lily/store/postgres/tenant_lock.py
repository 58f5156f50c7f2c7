"""Advisory locks per tenant, for work that must not overlap. They end with the connection."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection


@contextmanager
def tenant_lock(connection: Connection[Any], purpose: str, tenant: str) -> Iterator[None]:
    """Waits for the lock, and releases it at the end. Take it before the transaction begins, so that the transaction
    sees what the previous holder committed."""
    lock = (_signed(purpose), _signed(tenant))
    connection.execute("select pg_advisory_lock(%s, %s)", lock)
    try:
        yield
    finally:
        if not connection.broken:
            connection.execute("select pg_advisory_unlock(%s, %s)", lock)


@contextmanager
def try_tenant_lock(connection: Connection[Any], purpose: str, tenant: str) -> Iterator[bool]:
    """The same without waiting. Yields whether the lock was taken."""
    lock = (_signed(purpose), _signed(tenant))
    row = connection.execute("select pg_try_advisory_lock(%s, %s)", lock).fetchone()
    taken = bool(row and row[0])
    try:
        yield taken
    finally:
        if taken and not connection.broken:
            connection.execute("select pg_advisory_unlock(%s, %s)", lock)


def hold_tenant_lock(connection: Connection[Any], purpose: str, tenant: str) -> None:
    """Waits for the lock and holds it until the end of the transaction, which must not have read anything yet unless
    each of its statements sees what was committed meanwhile (READ COMMITTED)."""
    connection.execute("select pg_advisory_xact_lock(%s, %s)", (_signed(purpose), _signed(tenant)))


def _signed(text: str) -> int:
    return zlib.crc32(text.encode()) - (1 << 31)
