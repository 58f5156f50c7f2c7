"""Records when tokens were last used, off the path of requests.

A token that is in use is looked up every few seconds (`Principals`), and only then noted here, so a request pays
nothing. What was noted is written together, and the database writes a token's row at most once a minute.
"""

import asyncio
from typing import NoReturn

import structlog

from lily.model.errors import LilyError
from lily.store.postgres.access.tokens import record_uses
from lily.store.postgres.sessions import Database

TURN_SECONDS = 10.0

log = structlog.get_logger()


class TokenUses:
    """Of one process. What PostgreSQL does not take is written in the next turn."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._used: set[str] = set()

    def note(self, token_id: str) -> None:
        """Does nothing for a user who signed in with an identity provider, who has no API token."""
        if token_id:
            self._used.add(token_id)

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(TURN_SECONDS)
            await self.write()

    async def write(self) -> None:
        used, self._used = self._used, set()
        if not used:
            return
        try:
            await record_uses(self._database, used)
        except LilyError as error:
            self._used |= used
            log.warning("tokens.uses_delayed", reason=str(error))
        except BaseException:  # cancelled at the end of the process, which writes once more
            self._used |= used
            raise
