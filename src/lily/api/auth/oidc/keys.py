"""The signing keys of one issuer, cached and refreshed."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NoReturn

import structlog
from joserfc.jwk import KeySet
from prometheus_client import Counter

from lily.api import background
from lily.api.auth.oidc.errors import ProviderUnavailable
from lily.issuers import Issuer

PAUSE_SECONDS = 10.0  # between two fetches that requests cause: random key ids must not flood the provider

log = structlog.get_logger()

Fetch = Callable[[], Awaitable[KeySet]]


class IssuerKeys:
    """Fetched in the background, and at most once per pause because a token names an unknown key.

    While the provider does not respond, the keys remain in use until their maximum age. Then, and for an unknown key
    meanwhile, ProviderUnavailable is raised. `on_withdrawn` is called when a key has disappeared from the key set.
    """

    def __init__(
        self,
        issuer: Issuer,
        fetch: Fetch,
        refreshes: "Refreshes",
        on_withdrawn: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer, self._fetch, self._refreshes, self._on_withdrawn = issuer, fetch, refreshes, on_withdrawn
        self._clock = clock
        self._keys: KeySet | None = None
        self._fetched_at = self._requested_at = float("-inf")
        self._failed = False
        self._fetching: asyncio.Task[None] | None = None

    async def holding(self, key_id: str | None) -> KeySet:
        """The current keys, fetched anew if the key is not among them. It may still not be."""
        if not self._usable() or not self._holds(key_id):
            await self._refresh_unless_just_done()
        if self._keys is None or not self._usable() or (self._failed and not self._holds(key_id)):
            # Where and why is in the log: it is not for callers that are not authenticated.
            raise ProviderUnavailable(
                "The identity provider does not respond, so its access tokens cannot be verified at the moment. Try "
                "again later; API tokens are accepted meanwhile."
            )
        return self._keys

    async def run(self) -> NoReturn:
        """Refreshes in the background, for as long as it is not cancelled."""
        while True:
            await self._refresh()
            await asyncio.sleep(PAUSE_SECONDS if self._failed else self._issuer.key_refresh_seconds)

    async def close(self) -> None:
        if self._fetching is not None:
            await background.end(self._fetching)

    def _usable(self) -> bool:
        return self._keys is not None and self._clock() - self._fetched_at <= self._issuer.key_max_age_seconds

    def _holds(self, key_id: str | None) -> bool:
        # A token without a key id can only be verified if there is no choice; a refresh would not change that.
        return key_id is None or any(key.kid == key_id for key in self._keys or ())

    async def _refresh_unless_just_done(self) -> None:
        if self._fetching is None:
            if self._clock() - self._requested_at < PAUSE_SECONDS:
                return
            self._requested_at = self._clock()
        await self._refresh()

    async def _refresh(self) -> None:
        """Joins a fetch that is under way."""
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch_once())
        # Shielded: a request that is cancelled must not cancel the fetch that others wait for.
        await asyncio.shield(self._fetching)

    async def _fetch_once(self) -> None:
        try:
            self._replace(await self._fetch())
            self._failed = False
        except ProviderUnavailable as error:
            self._failed = True
            log.warning("oidc.refresh_failed", issuer=self._issuer.issuer, reason=str(error))
        finally:
            self._refreshes.count(failed=self._failed)
            self._fetching = None

    def _replace(self, keys: KeySet) -> None:
        withdrawn = _thumbprints(self._keys) - _thumbprints(keys)
        self._keys, self._fetched_at = keys, self._clock()
        if withdrawn:
            log.info("oidc.keys_withdrawn", issuer=self._issuer.issuer, count=len(withdrawn))
            self._on_withdrawn()


class Refreshes:
    """Counts the refreshes of one issuer."""

    def __init__(self, counter: Counter, index: str) -> None:
        self._succeeded, self._failed = counter.labels(index, "succeeded"), counter.labels(index, "failed")

    def count(self, *, failed: bool) -> None:
        (self._failed if failed else self._succeeded).inc()


def _thumbprints(keys: KeySet | None) -> set[str]:
    return {key.thumbprint() for key in keys or ()}
