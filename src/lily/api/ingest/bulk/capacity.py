"""How many bulk bodies a process reads at a time."""

from asyncio import Semaphore
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager

from lily.api.http.errors import RETRY_SECONDS, Declined
from lily.model.errors import Problem
from lily.plugins import Splitter, WholeBody

WHOLE_BODIES = 2  # read at a time, each with up to 150 MB


class BulkCapacity:
    """Limits the bodies of each tenant, and the bodies of all tenants that are read as a whole."""

    def __init__(self, bodies: int) -> None:
        self._limit = bodies
        self._bodies = Counter[str]()
        self._whole = Semaphore(WHOLE_BODIES)
        # Threads of their own: whatever else runs in a thread would wait behind workbooks, such as a health check.
        self._threads = ThreadPoolExecutor(WHOLE_BODIES, "lily-whole-body")

    @contextmanager
    def admit(self, tenant: str) -> Iterator[None]:
        """Raises Declined with 429 if too many bodies of the tenant are being read."""
        if self._bodies[tenant] >= self._limit:
            description = f"{self._limit} bulk bodies of this tenant are being read; send this one again later"
            problem = Problem("TOO_MANY_BODIES", description, "body")
            raise Declined(429, problem, {"Retry-After": RETRY_SECONDS})
        self._bodies[tenant] += 1
        try:
            yield
        finally:
            self._bodies[tenant] -= 1
            if not self._bodies[tenant]:
                del self._bodies[tenant]

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
