"""The serving role's connections: every call is one transaction, in the tenant that asks, and one round trip."""

import logging
from collections.abc import Mapping
from typing import Any, LiteralString

import orjson
import psycopg
from psycopg import AsyncClientCursor, AsyncConnection, sql
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from lily.model.errors import Problem, Refused, Terminal, Transient
from lily.store.postgres.queries import query

CONNECTIONS = 6  # more would only queue inside a PostgreSQL that shares its cores with everything else
PATIENCE_SECONDS = 3.0  # how long a request waits for a connection before it is told to come back
WAITING = 500
STATEMENT_SECONDS = 15

# The pool reports every attempt to reconnect, in plain text; the listener reports the outage once.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

Row = tuple[Any, ...]
Query = LiteralString | sql.Composed
_SET_TENANT: LiteralString = "select set_config('lily.tenant', %(tenant)s, true); "


class StoreUnavailable(Transient):
    """PostgreSQL does not answer, or is too busy to. Nothing was read or written; the pool reconnects by itself."""


class Database:
    """A small pool. `fetch` raises StoreUnavailable when PostgreSQL cannot be reached; it recovers without help.

    It raises Refused for a value that PostgreSQL cannot read; only a made-up cursor brings one this far.
    """

    def __init__(self, url: str) -> None:
        self._pool = AsyncConnectionPool(
            url,
            min_size=2,
            max_size=CONNECTIONS,
            timeout=PATIENCE_SECONDS,
            max_waiting=WAITING,
            kwargs={
                "autocommit": True,
                "application_name": "lily-api",
                "connect_timeout": 5,
                "cursor_factory": AsyncClientCursor,
            },
            # A failed attempt is repeated ever more slowly; given up early, the next request begins anew.
            reconnect_timeout=PATIENCE_SECONDS,
            open=False,
            configure=_configure,
        )

    async def open(self) -> None:
        """Raises StoreUnavailable if there is no server, Terminal if the role could see past row-level security."""
        await self._pool.open()
        await self._refuse_privileged_role()

    async def close(self) -> None:
        await self._pool.close()

    async def fetch(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        """The rows of one statement, run for one tenant, whom it calls `tenant`; None, before a tenant is known, sees
        no one's rows.

        A connection that turns out to be dead is replaced and the statement sent once more, so one that writes must
        bear being repeated; it says what it wrote with RETURNING.
        """
        try:
            return await self._fetch_again_if_dead(tenant, statement, parameters)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StoreUnavailable("The metadata store does not answer right now. Try again in a moment.") from error
        except psycopg.DataError as error:
            raise Refused(Problem("INVALID_VALUE", "a value is not of the type it is compared with")) from error

    async def _fetch_again_if_dead(
        self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]
    ) -> list[Row]:
        try:
            return await self._fetch(tenant, statement, parameters)
        except (PoolTimeout, TooManyRequests, psycopg.errors.QueryCanceled):
            raise  # it has waited long enough already
        except (psycopg.OperationalError, psycopg.InterfaceError):
            return await self._fetch(tenant, statement, parameters)

    async def _fetch(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        async with self._pool.connection() as connection:
            if tenant is None:
                return await (await connection.execute(statement, parameters)).fetchall()
            # Statements sent together are one implicit transaction, so the setting, which is local to its
            # transaction, holds for the statement and for nothing after it. Measured against a pipeline of two
            # prepared statements: a third of the CPU.
            cursor = await connection.execute(_in_tenant(statement), {**parameters, "tenant": tenant})
            cursor.nextset()
            return await cursor.fetchall()

    async def _refuse_privileged_role(self) -> None:
        ((role, superuser, bypasses, owns),) = await self.fetch(None, query("access/privileges"), {})
        if superuser or bypasses or owns:
            why = "is a superuser" if superuser else "bypasses row-level security" if bypasses else "owns tables"
            raise Terminal(
                f"The API refuses to serve as the database role {role!r}, because it {why} and could mix tenants up. "
                "Let LILY_DATABASE_URL name the role lily_api."
            )


async def _configure(connection: AsyncConnection[Any]) -> None:
    set_json_dumps(lambda value: orjson.dumps(value).decode(), connection)
    set_json_loads(orjson.loads, connection)
    await connection.execute(sql.SQL("set statement_timeout = {}").format(sql.Literal(f"{STATEMENT_SECONDS}s")))


def _in_tenant(statement: Query) -> Query:
    return _SET_TENANT + statement if isinstance(statement, str) else sql.SQL(_SET_TENANT) + statement
