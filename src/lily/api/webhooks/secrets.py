"""The secrets and mappings of webhooks, cached for a few seconds; emptied when one of them changes."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lily.intake.mapped import Mapped
from lily.intake.sources import by_mapping, plugged_in
from lily.plugins import Intake
from lily.store.postgres.access.webhook_secrets import ValidSecret, valid_secrets
from lily.store.postgres.sessions import Database
from lily.store.postgres.webhook_mappings.mappings import find_mapping

CACHE_SECONDS = 5.0  # a notification can be lost; a secret that was removed is used no longer than this
CACHE_SIZE = 1_000

Key = tuple[str, str]  # tenant and source


class Known(NamedTuple):
    """What is stored about a source. `mapping` is what reads it, unless a plug-in does."""

    secrets: Sequence[ValidSecret] = ()
    mapping: Mapped | None = None


class WebhookSecrets:
    """A source without a secret is cached too, so that an unknown tenant costs as much as a known one."""

    def __init__(self, database: Database, master_key_file: Path | None) -> None:
        self._database, self._key_file = database, master_key_file
        self._cache: dict[Key, tuple[Known, float]] = {}
        self._pending: dict[Key, asyncio.Task[Known]] = {}

    async def of(self, tenant: str, source: str) -> list[bytes]:
        """The secrets that are valid now. Raises StoreUnavailable, and Terminal if one cannot be decrypted."""
        found, now = await self._known(tenant, source), time.time()
        return [one.secret for one in found.secrets if one.expires_at is None or one.expires_at > now]

    async def intake(self, tenant: str, source: str) -> Intake | None:
        """What reads and verifies webhooks of the source. Raises StoreUnavailable, and Terminal if the tenant's mapping
        is not valid."""
        return plugged_in(source) or (await self._known(tenant, source)).mapping

    async def _known(self, tenant: str, source: str) -> Known:
        known, now = self._cache.get((tenant, source)), time.monotonic()
        if known is None or known[1] <= now:
            return await asyncio.shield(self._look_up_once((tenant, source)))
        if known[1] - now < CACHE_SECONDS / 2:  # in use: looked up again before it expires, so that no request waits
            self._look_up_once((tenant, source))
        return known[0]

    def invalidate(self, tenant: str) -> None:
        """A secret or mapping of the tenant changed; with an empty name, of any. Look-ups under way fill nothing."""
        self._cache = {key: found for key, found in self._cache.items() if tenant and key[0] != tenant}
        self._pending = {key: task for key, task in self._pending.items() if tenant and key[0] != tenant}

    def _look_up_once(self, key: Key) -> asyncio.Task[Known]:
        """One look-up for all requests that need it. A request that is cancelled must not cancel it."""
        if key not in self._pending:
            self._pending[key] = asyncio.create_task(self._look_up(key))
            self._pending[key].add_done_callback(_retrieve)
        return self._pending[key]

    async def _look_up(self, key: Key) -> Known:
        mine = asyncio.current_task()
        try:
            secrets = await valid_secrets(self._database, *key, self._key_file)
            found = Known(secrets, by_mapping(key[1], await find_mapping(self._database, *key)))
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


def _retrieve(task: "asyncio.Task[Known]") -> None:
    """Otherwise asyncio logs the error of a look-up whose requests have all been cancelled."""
    if not task.cancelled():
        task.exception()
