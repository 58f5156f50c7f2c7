"""Who shows which token: remembered for a moment, forgotten at once when access changes."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from lily.model.access import Principal
from lily.store.postgres.access.administration import token_hash

REMEMBERED_SECONDS = 5.0
REMEMBERED = 10_000
LONGEST_TOKEN = 512

Look = Callable[[bytes], Awaitable[Principal | None]]


class Principals:
    """Only good tokens are remembered, so a token works the moment it is created. Raises what the look-up raises."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._known: dict[str, tuple[Principal, float]] = {}
        self._asked: dict[str, asyncio.Task[Principal | None]] = {}
        self._changed = asyncio.Event()

    def known(self, token: str) -> Principal | None:
        """The principal if it is remembered and still good; None says nothing, and `of` has to be asked."""
        entry = self._known.get(token)
        if entry is None or entry[1] < time.monotonic():
            return None
        expires_at = entry[0].expires_at
        return None if expires_at is not None and expires_at <= time.time() else entry[0]

    async def of(self, token: str) -> Principal | None:
        if len(token) > LONGEST_TOKEN or not token.isascii():
            return None
        found = self.known(token)
        if found is not None:
            return found
        if token not in self._asked:
            self._asked[token] = asyncio.create_task(self._ask(token))
        # Shielded: many requests may wait for one look-up, and one that goes away must not take it along.
        return await asyncio.shield(self._asked[token])

    def forget(self) -> None:
        """Access has changed somewhere: ask again, also about what is being asked right now."""
        self._known, self._asked = {}, {}
        self._changed.set()
        self._changed = asyncio.Event()

    def next_change(self) -> asyncio.Event:
        """Is set when access changes next. Take it before looking, so that no change falls between."""
        return self._changed

    async def _ask(self, token: str) -> Principal | None:
        known, asked = self._known, self._asked
        try:
            found = await self._look(token_hash(token))
        finally:
            asked.pop(token, None)
        if found is not None:
            if len(known) >= REMEMBERED:
                known.clear()
            known[token] = (found, time.monotonic() + REMEMBERED_SECONDS)
        return found
