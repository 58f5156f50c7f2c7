"""A migrated database, and how each of Lily's roles reaches it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lily.embedded.bootstrap import url_for_role
from lily.store.postgres.sessions import Database
from tests.api_database import Result, with_database

PASSWORDS = {"lily_api": "api-password", "lily_pipeline": "pipeline-password"}


@dataclass(frozen=True)
class Migrated:
    owner: str

    def url_of(self, role: str) -> str:
        return url_for_role(self.owner, role, PASSWORDS[role])

    def as_api(self, story: Callable[[Database], Awaitable[Result]]) -> Result:
        """Runs a story with the connections that a process of the API has."""
        return with_database(self.url_of("lily_api"), story)
