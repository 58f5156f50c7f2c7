"""How many bulk bodies a process reads at a time."""

from asyncio import Semaphore
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager

from lily.api.http.errors import RETRY_SECONDS, Declined
from lily.api.tenant_shares import TenantShares
from lily.model.errors import Problem
from lily.plugins import Splitter, WholeBody

WHOLE_BODIES = 2  # read at a time, each with up to 150 MB


class BulkCapacity:
    """Limits the bodies of each tenant, and the bodies of all tenants that are read as a whole."""

    def __init__(self, bodies: int) -> None:
        self._bodies = TenantShares(bodies, _too_many_bodies)
        self._whole = Semaphore(WHOLE_BODIES)
        # Threads of their own: whatever else runs in a thread would wait behind workbooks, such as a health check.
        self._threads = ThreadPoolExecutor(WHOLE_BODIES, "lily-whole-body")

    def admit(self, tenant: str) -> AbstractContextManager[None]:
        """Raises Declined with 429 if too many bodies of the tenant are being read."""
        return self._bodies.one(tenant)

    @asynccontextmanager
    async def threads(self, splitter: Splitter) -> AsyncIterator[ThreadPoolExecutor | None]:
        """The threads in which to finish a body; None for the event loop's own. Waits for a free one."""
        if not isinstance(splitter, WholeBody):
            yield None
            return
        async with self._whole:
            yield self._threads

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _too_many_bodies(limit: int) -> Declined:
    description = f"{limit} bulk bodies of this tenant are being read; send this one again later"
    return Declined(429, Problem("TOO_MANY_BODIES", description, "body"), {"Retry-After": RETRY_SECONDS})
