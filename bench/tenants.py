"""A tenant of its own for a measurement that puts graphs into the catalogue; it goes with all it brought. Only its name
and its audit stay, which is append-only."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
from psycopg import sql

from bench.stack import BenchStack
from lily.model.ids import asset_id
from lily.store.postgres.access.administration import create_tenant, create_token

_TABLES = """
select c.relname from pg_attribute a join pg_class c on c.oid = a.attrelid
where a.attname = 'tenant_id' and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  and c.relname not in ('audit', 'audit_heads')
order by c.relname
"""


@dataclass(frozen=True, slots=True)
class BenchTenant:
    name: str
    token: str
    stack: BenchStack

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.stack.url, headers=self.headers, timeout=120)

    def id(self, name: str) -> str:
        return asset_id(self.name, name)


@contextmanager
def tenant(stack: BenchStack, name: str) -> Iterator[BenchTenant]:
    """While it exists. Its name is new each time: what was told of an old one is still in the log and the lake."""
    unique = f"bench-{name}-{time.time_ns():x}"
    create_tenant(stack.database_url, unique)
    try:
        yield BenchTenant(unique, create_token(stack.database_url, unique, ["admin"], user="bench"), stack)
    finally:
        _remove(stack, unique)


def _remove(stack: BenchStack, name: str) -> None:
    database = stack.database
    tables = [sql.Identifier(table) for (table,) in database.execute(_TABLES).fetchall()]
    with database.transaction():
        for table in tables:
            database.execute(sql.SQL("delete from {} where tenant_id = %s").format(table), [name])
    # Now, and not while the next tenant is measured.
    database.execute(sql.SQL("vacuum analyze {}").format(sql.SQL(", ").join(tables)))
