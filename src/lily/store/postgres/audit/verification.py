"""Reads chains of the audit to verify them, with the owner's role, as of one moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection, IsolationLevel

from lily.store.postgres.audit.chain import Chain, Chained, Head, Verified, verify
from lily.store.postgres.queries import query

PAGE = 2_000  # entries in memory at a time


class TenantChain(NamedTuple):
    tenant: str
    chain: Chain


class Chains:
    """The chains as of the moment at which the first of them was read."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def found(self, tenant: str | None = None) -> list[TenantChain]:
        """Of all tenants, or of one. A tenant of whom nothing was ever recorded has none."""
        rows = self._connection.execute(query("audit/heads"), {"tenant": tenant})
        return [
            TenantChain(name, Chain(None if number is None else Head(number, end), Head(pruned or 0, before or "")))
            for name, number, end, pruned, before in rows
        ]

    def verify(self, one: TenantChain, kept: Head | None = None) -> Verified:
        return verify(one.chain, self._entries(one.tenant), kept)

    def _entries(self, tenant: str) -> Iterator[Chained]:
        with self._connection.cursor(name="audit_chain") as cursor:
            cursor.itersize = PAGE
            for number, previous, hashed, action, *fields in cursor.execute(query("audit/chain"), {"tenant": tenant}):
                yield Chained(number, previous, hashed, action, tuple(fields))


@contextmanager
def opened_chains(owner_url: str) -> Iterator[Chains]:
    """Raises psycopg.OperationalError."""
    with psycopg.connect(owner_url) as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        yield Chains(connection)
