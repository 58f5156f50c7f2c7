"""What the tenants share within one process, limited so that one tenant cannot shut the others out."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from lily.model.errors import LilyError


class TenantShares:
    """Counts what each tenant uses. `refusal` makes the error for a tenant that uses its whole share already; a share
    of 0 has no limit."""

    def __init__(self, share: int, refusal: Callable[[int], LilyError]) -> None:
        self._share, self._refusal = share, refusal
        self._used: dict[str, int] = {}

    @contextmanager
    def one(self, tenant: str, share: int | None = None) -> Iterator[None]:
        """Uses one of the tenant's share inside the context. `share` is that of this tenant, if it has its own."""
        used, most = self._used.get(tenant, 0), self._share if share is None else share
        if most and used >= most:
            raise self._refusal(most)
        self._used[tenant] = used + 1
        try:
            yield
        finally:
            self._used[tenant] -= 1
            if not self._used[tenant]:
                del self._used[tenant]


class TenantTurns:
    """Places that tenants take in turns: a tenant that waits once is not behind all that another tenant waits for, and
    one tenant takes at most `share` of the places, so that the others do not wait for it alone."""

    def __init__(self, places: int = 1, share: int = 1) -> None:
        self._free, self._share = places, share
        self._taken: dict[str, int] = {}
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # in the order of the turns

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        if self._free and self._has_share(tenant):
            self._take(tenant)
        else:
            await self._wait(tenant)
        try:
            yield
        finally:
            self._give_back(tenant)

    async def _wait(self, tenant: str) -> None:
        """Returns once a place was passed on to this caller; it stays taken in between."""
        passed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(passed)
        try:
            await passed
        except asyncio.CancelledError:
            if passed.done() and not passed.cancelled():  # it was this caller's turn
                self._give_back(tenant)
            raise

    def _has_share(self, tenant: str) -> bool:
        return self._taken.get(tenant, 0) < self._share

    def _take(self, tenant: str) -> None:
        self._free -= 1
        self._taken[tenant] = self._taken.get(tenant, 0) + 1

    def _give_back(self, tenant: str) -> None:
        self._free += 1
        self._taken[tenant] -= 1
        if not self._taken[tenant]:
            del self._taken[tenant]
        while self._free and (following := next(filter(self._has_share, self._waiting), None)) is not None:
            self._pass_on(following)

    def _pass_on(self, tenant: str) -> None:
        queue = self._waiting.pop(tenant)
        passed = queue.popleft()
        if queue:
            self._waiting[tenant] = queue  # behind the other tenants
        if not passed.done():  # a caller that was cancelled waits no longer
            self._take(tenant)
            passed.set_result(None)
