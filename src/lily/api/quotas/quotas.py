"""The quotas of the tenants, in the memory of this process: a check is a look-up and a subtraction, without a query.

The limits are those of the settings, or what an administrator set for the tenant. These are read in the background: a
request neither waits for them nor fails without them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from math import ceil
from typing import Final, NoReturn

import structlog
from prometheus_client import Counter

from lily.api import background
from lily.api.http.errors import Declined
from lily.api.quotas.bucket import Bucket
from lily.model.access import Principal, Scope
from lily.model.errors import LilyError, Problem
from lily.model.quotas import Quota, TenantLimits

RELOAD_SECONDS = 60.0  # a notification of changed limits can be lost
CODE = "QUOTA_EXCEEDED"
ENGINE: Final[frozenset[Scope]] = frozenset({"enforce:read"})  # the scopes of an engine's token

WHAT: Final[dict[Quota, str]] = {
    "requests_per_second": "requests",
    "decisions_per_second": "decisions for engines",
    "events_per_second": "events",
    "bytes_per_second": "bytes of events",
}

Load = Callable[[str], Awaitable[TenantLimits]]  # what an administrator set for a tenant
log = structlog.get_logger()


class _Tenant:
    __slots__ = ("connections", "decisions", "events", "octets", "requests")

    def __init__(self, limits: TenantLimits, burst_seconds: float, now: float) -> None:
        self.requests = Bucket(limits.requests_per_second or 0, burst_seconds, now)
        self.decisions = Bucket(limits.decisions_per_second or 0, burst_seconds, now)
        self.events = Bucket(limits.events_per_second or 0, burst_seconds, now)
        self.octets = Bucket(limits.bytes_per_second or 0, burst_seconds, now)
        self.connections = limits.connections or 0

    def change(self, limits: TenantLimits, burst_seconds: float) -> None:
        self.requests.change(limits.requests_per_second or 0, burst_seconds)
        self.decisions.change(limits.decisions_per_second or 0, burst_seconds)
        self.events.change(limits.events_per_second or 0, burst_seconds)
        self.octets.change(limits.bytes_per_second or 0, burst_seconds)
        self.connections = limits.connections or 0


class Quotas:
    """`load` reads what was set for a tenant. While it cannot, the limits stay as they are."""

    def __init__(
        self,
        defaults: TenantLimits,
        burst_seconds: float,
        load: Load,
        refused: dict[Quota, Counter],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._defaults, self._burst, self._load = defaults, burst_seconds, load
        self._refused, self._now = refused, now
        self._tenants: dict[str, _Tenant] = {}
        self._unsure: dict[str, _Tenant] = {}  # whose limits may have changed since they were read
        self._loading: set[asyncio.Task[None]] = set()

    def admits(self, tenant: str) -> bool:
        """Counts a request; False if it exceeds the quota, and then it is not counted."""
        bucket = self._of(tenant).requests
        if not bucket.has_any(self._now()):
            return False
        bucket.take(1)
        return True

    def count(self, principal: Principal) -> None:
        """Counts a request. Those of engines are counted apart from all others: writing much must not keep queries from
        running. Raises Declined with 429 if it exceeds the quota."""
        found = self._of(principal.tenant)
        if principal.scopes == ENGINE:
            self._count(found.decisions, "decisions_per_second")
        else:
            self._count(found.requests, "requests_per_second")

    def count_webhook(self, tenant: str, octets: int) -> None:
        """Counts a signed webhook: a request, and an event. Raises Declined with 429 if it exceeds a quota."""
        self.write(tenant)
        self._count(self._of(tenant).requests, "requests_per_second")
        self.written(tenant, 1, octets)

    def write(self, tenant: str) -> None:
        """Before events are written. Raises Declined with 429 if those before exceeded a quota."""
        found = self._of(tenant)
        self._require(found.events, "events_per_second")
        self._require(found.octets, "bytes_per_second")

    def written(self, tenant: str, events: int, octets: int) -> None:
        """Counts events that are written."""
        found = self._of(tenant)
        found.events.take(events)
        found.octets.take(octets)

    async def room(self, tenant: str) -> None:
        """Waits until the tenant may write: for a streamed body, which can be slowed down."""
        found = self._of(tenant)
        now = self._now()
        pause = max(found.events.seconds(now), found.octets.seconds(now))
        if pause > 0:
            await asyncio.sleep(pause)

    def connections(self, tenant: str) -> int:
        """WebSocket connections of the tenant to this process; 0 for no limit."""
        return self._of(tenant).connections

    def invalidate(self) -> None:
        """Limits may have changed. Each tenant's are read again with its next request."""
        self._unsure |= self._tenants
        self._tenants = {}

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(RELOAD_SECONDS)
            self.invalidate()

    async def close(self) -> None:
        await background.end(*self._loading)

    def _of(self, tenant: str) -> _Tenant:
        found = self._tenants.get(tenant)
        if found is None:
            found = self._unsure.pop(tenant, None) or _Tenant(self._defaults, self._burst, self._now())
            self._tenants[tenant] = found
            loading = asyncio.get_running_loop().create_task(self._read(tenant, found))
            self._loading.add(loading)
            loading.add_done_callback(self._loading.discard)
        return found

    async def _read(self, tenant: str, found: _Tenant) -> None:
        try:
            limits = await self._load(tenant)
        except LilyError as error:
            log.warning("quotas.unread", reason=str(error))
        else:
            found.change(limits.over(self._defaults), self._burst)

    def _count(self, bucket: Bucket, quota: Quota) -> None:
        self._require(bucket, quota)
        bucket.take(1)

    def _require(self, bucket: Bucket, quota: Quota) -> None:
        now = self._now()
        if not bucket.has_any(now):
            self._refused[quota].inc()
            raise _exceeded(quota, bucket.rate, max(1, ceil(bucket.seconds(now))))


def _exceeded(quota: Quota, rate: float, seconds: int) -> Declined:
    described = (
        f"your tenant sent more than {rate:,.0f} {WHAT[quota]} per second to this process; send this again after "
        f"{seconds} s. An operator can raise LILY_QUOTAS__{quota.upper()}, or for your tenant `lily tenant quota`"
    )
    return Declined(429, Problem(CODE, described, quota), {"Retry-After": str(seconds)})
