"""Callers that are not authenticated yet: what they show is looked up, but a flood of them does not reach the database.

A credential that was valid within the last hour is looked up without limits, so a flood does not lock out who works
here already, not even behind the same proxy. Any other is limited: its form, the failures of its address, and the
look-ups at a time, of which there are fewer than connections to PostgreSQL. What was refused is remembered for seconds.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from math import ceil
from typing import TypeVar

from prometheus_client import Counter

from lily.api.http.errors import Declined, too_many
from lily.api.quotas.bucket import Bucket
from lily.model.errors import Problem

KNOWN_SECONDS = 3_600.0
REFUSED_SECONDS = 5.0
REMEMBERED = 50_000  # credentials and addresses of each kind
LOOK_UPS = 2  # at a time, of six connections
WAITING = 500  # look-ups; more are refused, because their callers would wait for seconds
BURST_SECONDS = 10.0
IPV6_NETWORK = 64  # bits: a host with one IPv6 address usually has the whole network
UNAUTHENTICATED = 401

Found = TypeVar("Found")


class Strangers:
    """`failures` is how many per second an address may have, 0 for no limit. `would_be_notified` reports whether a
    change of access would have been notified by now; while it does not, what was refused is looked up again."""

    def __init__(
        self,
        failures: float,
        would_be_notified: Callable[[], bool],
        refusals: dict[str, Counter],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures, self._would_be_notified, self._now = failures, would_be_notified, now
        self._refusals = refusals
        self._known: dict[bytes, float] = {}
        self._refused: dict[bytes, float] = {}
        self._addresses: dict[str, Bucket] = {}
        self._slots = asyncio.Semaphore(LOOK_UPS)
        self._waiting = 0

    async def look_up(
        self, address: str | None, credential: str, look_up: Callable[[], Awaitable[Found | None]]
    ) -> Found | None:
        """What `look_up` finds for a credential; None if it is not valid. Raises what `look_up` raises, and Declined
        with 429 if the address had too many failures, or too many strangers wait."""
        digest, now = hashlib.sha256(credential.encode("utf-8", "replace")).digest(), self._now()
        if self._known.get(digest, 0.0) > now:
            found = await look_up()
            if found is None:  # revoked, or a ticket that was used: from now on a stranger
                self._known.pop(digest, None)
                self.failed(address)
            return self._remembered(digest, found)
        self.require_few_failures(address)
        if self._is_refused(digest):
            self.failed(address)
            return None
        return await self._limited(address, digest, look_up)

    def require_few_failures(self, address: str | None) -> None:
        """Raises Declined with 429 if the address had too many."""
        bucket, now = self._addresses.get(_network(address)), self._now()
        if bucket is not None and not bucket.has_any(now):
            self._refusals["limited"].inc()
            seconds = max(1, ceil(bucket.seconds(now)))
            described = (
                "too many calls from your address had no valid token or signature; check it, and try again later"
            )
            raise Declined(429, Problem("TOO_MANY_FAILURES", described, "Authorization"), {"Retry-After": str(seconds)})

    def failed(self, address: str | None) -> None:
        """Counts a failure."""
        self._refusals["refused"].inc()
        if not self._failures:
            return
        network, now = _network(address), self._now()
        bucket = self._addresses.get(network)
        if bucket is None:
            _make_room(self._addresses)
            bucket = self._addresses[network] = Bucket(self._failures, BURST_SECONDS, now)
        bucket.has_any(now)
        bucket.take(1)

    def invalidate(self) -> None:
        """Access has changed: what was refused may be valid now."""
        self._refused = {}

    async def _limited(
        self, address: str | None, digest: bytes, look_up: Callable[[], Awaitable[Found | None]]
    ) -> Found | None:
        if self._waiting >= WAITING:
            self._refusals["busy"].inc()
            raise too_many("BUSY", "too many callers with unknown tokens wait; send this again later", "Authorization")
        self._waiting += 1
        try:
            async with self._slots:
                refused = self._refused  # as it is before the look-up: a change meanwhile replaces it
                found = None if self._is_refused(digest) else await look_up()
        except Declined as error:
            if error.status == UNAUTHENTICATED:
                self.failed(address)
            raise
        finally:
            self._waiting -= 1
        if found is None:
            _make_room(refused)
            refused[digest] = self._now() + REFUSED_SECONDS
            self.failed(address)
        return self._remembered(digest, found)

    def _remembered(self, digest: bytes, found: Found | None) -> Found | None:
        if found is not None:
            if digest not in self._known:
                _make_room(self._known)
            self._known[digest] = self._now() + KNOWN_SECONDS
        return found

    def _is_refused(self, digest: bytes) -> bool:
        return self._refused.get(digest, 0.0) > self._now() and self._would_be_notified()


def _make_room(remembered: dict[Found, float] | dict[str, Bucket]) -> None:
    """Forgets the oldest tenth if there is no room."""
    if len(remembered) >= REMEMBERED:
        for oldest in list(remembered)[: REMEMBERED // 10]:
            del remembered[oldest]  # type: ignore[arg-type]


def _network(address: str | None) -> str:
    """The address, or of IPv6 the network that one caller usually has."""
    if address is None or ":" not in address:
        return address or ""
    try:
        number = int(ip_address(address.partition("%")[0]))
    except ValueError:
        return address
    return f"{number >> (128 - IPV6_NETWORK):x}::"
