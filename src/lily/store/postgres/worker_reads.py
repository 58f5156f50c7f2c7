"""The reads of the API on a worker's connection, in its transaction."""

from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from psycopg import ClientCursor, Connection

from lily.store.postgres.sessions import Query, Row

Result = TypeVar("Result")


class WorkerReads:
    """`fetch` never waits for an event loop, so `completed` can run what calls it. Raises psycopg's errors."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    async def fetch(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        self._connection.execute("select set_config('lily.tenant', %s, true)", [tenant or ""])
        with ClientCursor(self._connection) as cursor:
            return cursor.execute(statement, {**parameters, "tenant": tenant}).fetchall()


def completed(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine that never waits. Raises RuntimeError if it does."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine waits for something; only reads through WorkerReads can be run here")
