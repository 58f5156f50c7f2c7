"""The API's connections: every query is one transaction for one tenant, in one round trip."""

import logging
from collections.abc import Mapping
from typing import Any, LiteralString, Protocol

import orjson
import psycopg
from psycopg import AsyncClientCursor, AsyncConnection, sql
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from lily.model.errors import Problem, Refused, Terminal, Transient
from lily.store.postgres.audit.origin import ORIGIN
from lily.store.postgres.queries import query

CONNECTIONS = 6  # more would only compete for the cores that PostgreSQL shares with everything else
WAIT_SECONDS = 3.0  # how long a request waits for a connection before it fails with StoreUnavailable
MAX_WAITING = 500
STATEMENT_SECONDS = 15

# The pool logs every attempt to reconnect, as plain text. The listener logs the outage once.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

Row = tuple[Any, ...]
Query = LiteralString | sql.Composed
_SET_TENANT: LiteralString = "select set_config('lily.tenant', %(tenant)s, true); "
_SET_ORIGIN: LiteralString = (
    "select set_config('lily.tenant', %(tenant)s, true), set_config('lily.origin', %(origin)s, true); "
)


class StoreUnavailable(Transient):
    """PostgreSQL does not respond or is too busy. Nothing was read or written; the pool reconnects by itself."""


class Fetches(Protocol):
    """What reads need: `Database` in the API, `lily.store.postgres.worker_reads` on a worker's connection."""

    async def fetch(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        """Raises what the implementation raises if the store does not respond."""
        ...


class Database:
    """A small connection pool. `fetch` raises StoreUnavailable while PostgreSQL cannot be reached, and then recovers.

    It raises Refused for a value of the wrong type. Only a forged cursor can contain one that was not refused earlier.
    """

    def __init__(self, url: str) -> None:
        self._pool = AsyncConnectionPool(
            url,
            min_size=2,
            max_size=CONNECTIONS,
            timeout=WAIT_SECONDS,
            max_waiting=MAX_WAITING,
            kwargs={
                "autocommit": True,
                "application_name": "lily-api",
                "connect_timeout": 5,
                "cursor_factory": AsyncClientCursor,
            },
            # The pool retries with growing delays. If it gives up early, the next request starts again at once.
            reconnect_timeout=WAIT_SECONDS,
            open=False,
            configure=_configure,
        )

    async def open(self) -> None:
        """Raises StoreUnavailable if there is no server, Terminal if the role could bypass row-level security."""
        await self._pool.open()
        await self._refuse_privileged_role()

    async def close(self) -> None:
        await self._pool.close()

    async def fetch(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        """Runs a statement for one tenant, which is its parameter `tenant`, and returns its rows. With None, before the
        tenant is known, row-level security hides all rows.

        If the connection turns out to be lost, the statement is sent again on a new one, so a statement that writes
        must be idempotent. It reports what it wrote with RETURNING.
        """
        try:
            return await self._fetch_with_retry(tenant, statement, parameters)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StoreUnavailable("The metadata store does not respond. Try again in a moment.") from error
        except psycopg.DataError as error:
            raise Refused(Problem("INVALID_VALUE", "a value is not of the type it is compared with")) from error

    async def _fetch_with_retry(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        try:
            return await self._fetch(tenant, statement, parameters)
        except (PoolTimeout, TooManyRequests, psycopg.errors.QueryCanceled):
            raise  # it has already waited
        except (psycopg.OperationalError, psycopg.InterfaceError):
            return await self._fetch(tenant, statement, parameters)

    async def _fetch(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        async with self._pool.connection() as connection:
            if tenant is None:
                return await (await connection.execute(statement, parameters)).fetchall()
            # Statements sent together are one implicit transaction, so the setting, which is local to the transaction,
            # applies to this statement and to nothing after it. This takes a third of the CPU of a pipeline with two
            # prepared statements.
            begin, values = _settings(tenant)
            cursor = await connection.execute(_after(begin, statement), {**parameters, **values})
            cursor.nextset()
            return await cursor.fetchall()

    async def _refuse_privileged_role(self) -> None:
        ((role, superuser, bypasses, owns),) = await self.fetch(None, query("access/privileges"), {})
        if superuser or bypasses or owns:
            why = "is a superuser" if superuser else "bypasses row-level security" if bypasses else "owns tables"
            raise Terminal(
                f"The API does not start with the database role {role!r}: it {why}, so row-level security would not "
                "separate tenants. Use the role lily_api in LILY_DATABASE_URL."
            )


async def _configure(connection: AsyncConnection[Any]) -> None:
    set_json_dumps(lambda value: orjson.dumps(value).decode(), connection)
    set_json_loads(orjson.loads, connection)
    await connection.execute(sql.SQL("set statement_timeout = {}").format(sql.Literal(f"{STATEMENT_SECONDS}s")))


def _settings(tenant: str) -> tuple[LiteralString, dict[str, str]]:
    """What a transaction begins with: its tenant, and where a change comes from, for the audit."""
    origin = ORIGIN.get()
    if origin is None:
        return _SET_TENANT, {"tenant": tenant}
    return _SET_ORIGIN, {"tenant": tenant, "origin": origin.as_setting()}


def _after(begin: LiteralString, statement: Query) -> Query:
    return begin + statement if isinstance(statement, str) else sql.SQL(begin) + statement
