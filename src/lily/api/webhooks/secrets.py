"""The secrets of webhooks, decrypted and cached for a few seconds; emptied when a secret changes."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from lily.store.postgres.access.webhook_secrets import ValidSecret, valid_secrets
from lily.store.postgres.sessions import Database

CACHE_SECONDS = 5.0  # a notification can be lost; a secret that was removed is used no longer than this
CACHE_SIZE = 1_000

Key = tuple[str, str]  # tenant and source


class WebhookSecrets:
    """A source without a secret is cached too, so that an unknown tenant costs as much as a known one."""

    def __init__(self, database: Database, master_key_file: Path | None) -> None:
        self._database, self._key_file = database, master_key_file
        self._cache: dict[Key, tuple[Sequence[ValidSecret], float]] = {}
        self._pending: dict[Key, asyncio.Task[Sequence[ValidSecret]]] = {}

    async def of(self, tenant: str, source: str) -> list[bytes]:
        """The secrets that are valid now. Raises StoreUnavailable, and Terminal if one cannot be decrypted."""
        known = self._cache.get((tenant, source))
        found = known[0] if known is not None and known[1] > time.monotonic() else await self._looked_up(tenant, source)
        now = time.time()
        return [one.secret for one in found if one.expires_at is None or one.expires_at > now]

    def invalidate(self, tenant: str) -> None:
        """A secret of the tenant changed; with an empty name, of any. Look-ups that are under way fill nothing."""
        self._cache = {key: found for key, found in self._cache.items() if tenant and key[0] != tenant}
        self._pending = {key: task for key, task in self._pending.items() if tenant and key[0] != tenant}

    async def _looked_up(self, tenant: str, source: str) -> Sequence[ValidSecret]:
        key = (tenant, source)
        if key not in self._pending:
            self._pending[key] = asyncio.create_task(self._look_up(key))
            self._pending[key].add_done_callback(_retrieve)
        # Shielded: many requests may wait for one look-up, and a request that is cancelled must not cancel it.
        return await asyncio.shield(self._pending[key])

    async def _look_up(self, key: Key) -> Sequence[ValidSecret]:
        mine = asyncio.current_task()
        try:
            found = await valid_secrets(self._database, *key, self._key_file)
        except BaseException:
            if self._pending.get(key) is mine:
                del self._pending[key]
            raise
        if self._pending.get(key) is mine:  # otherwise a secret changed meanwhile
            del self._pending[key]
            if len(self._cache) >= CACHE_SIZE:
                self._cache.clear()
            self._cache[key] = (found, time.monotonic() + CACHE_SECONDS)
        return found


def _retrieve(task: "asyncio.Task[Sequence[ValidSecret]]") -> None:
    """Otherwise asyncio logs the error of a look-up whose requests have all been cancelled."""
    if not task.cancelled():
        task.exception()
