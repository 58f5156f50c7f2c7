"""A migrated database, and how each of Lily's roles reaches it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from lily.embedded.bootstrap import url_for_role
from lily.store.postgres.sessions import Database

Result = TypeVar("Result")
PASSWORDS = {"lily_api": "api-password", "lily_pipeline": "pipeline-password"}


@dataclass(frozen=True)
class Migrated:
    owner: str

    def url_of(self, role: str) -> str:
        return url_for_role(self.owner, role, PASSWORDS[role])

    def as_api(self, story: Callable[[Database], Awaitable[Result]]) -> Result:
        """Runs a story with the connections that a process of the API has."""

        async def within() -> Result:
            database = Database(self.url_of("lily_api"))
            await database.open()
            try:
                return await story(database)
            finally:
                await database.close()

        return asyncio.run(within())
