"""Authenticates tokens. Valid tokens are cached for a few seconds; the cache is emptied when access changes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from lily.api.auth.strangers import Strangers
from lily.model.access import Principal

CACHE_SECONDS = 5.0
CACHE_SIZE = 10_000

LookUp = Callable[[str], Awaitable[Principal | None]]


class Principals:
    """Only valid tokens are cached, so a new token works as soon as it is created. Errors of the look-up are raised.

    `would_be_notified` reports whether a change of access would have been notified by now. While it does not, nothing
    from the cache is used: a user who was disabled is out within a second, also if notifications are lost."""

    def __init__(self, look_up: LookUp, would_be_notified: Callable[[], bool], strangers: Strangers) -> None:
        self._look_up_token = look_up
        self._strangers = strangers
        self._would_be_notified = would_be_notified
        self._cache: dict[str, tuple[Principal, float]] = {}
        self._pending: dict[str, asyncio.Task[Principal | None]] = {}
        self._changed = asyncio.Event()

    def cached(self, token: str) -> Principal | None:
        """The principal if it is cached and has not expired. None does not mean that the token is invalid: use `of`."""
        entry = self._cache.get(token)
        if entry is None or entry[1] < time.monotonic() or not self._would_be_notified():
            return None
        expires_at = entry[0].expires_at
        return None if expires_at is not None and expires_at <= time.time() else entry[0]

    async def of(self, token: str, address: str | None) -> Principal | None:
        """The principal of a token that an address sent; None if the token is not valid. Raises what the look-up
        raises, and Declined with 429 if there are too many failures."""
        if not token.isascii():
            return None
        principal = self.cached(token)
        if principal is not None:
            return principal
        return await self._strangers.look_up(address, token, partial(self._looked_up, token))

    async def _looked_up(self, token: str) -> Principal | None:
        principal = self.cached(token)  # another request may have had it looked up while this one waited
        if principal is not None:
            return principal
        if token not in self._pending:
            self._pending[token] = asyncio.create_task(self._look_up(token))
            self._pending[token].add_done_callback(_retrieve)
        # Shielded: many requests may wait for one look-up, and a request that is cancelled must not cancel it.
        return await asyncio.shield(self._pending[token])

    def invalidate(self) -> None:
        """Empties the cache because access has changed. Look-ups that are under way do not fill the new cache."""
        self._cache, self._pending = {}, {}
        self._strangers.invalidate()
        self._changed.set()
        self._changed = asyncio.Event()

    def next_change(self) -> asyncio.Event:
        """An event that is set at the next change of access. Get it before you authenticate, to miss no change."""
        return self._changed

    async def _look_up(self, token: str) -> Principal | None:
        cache, pending = self._cache, self._pending
        try:
            principal = await self._look_up_token(token)
        finally:
            pending.pop(token, None)
        if principal is not None:
            if len(cache) >= CACHE_SIZE:
                cache.clear()
            cache[token] = (principal, time.monotonic() + CACHE_SECONDS)
        return principal


def _retrieve(task: "asyncio.Task[Principal | None]") -> None:
    """Otherwise asyncio logs the error of a look-up whose requests have all been cancelled."""
    if not task.cancelled():
        task.exception()
