"""The connections that a process of the API has, for as long as a test needs them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from lily.store.postgres.sessions import Database

Result = TypeVar("Result")


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


def with_database(url: str, story: Callable[[Database], Awaitable[Result]]) -> Result:
    """Runs a story in an event loop of its own."""

    async def within() -> Result:
        async with opened(url) as database:
            return await story(database)

    return asyncio.run(within())
