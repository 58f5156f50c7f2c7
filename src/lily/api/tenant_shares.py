"""What the tenants share within one process, limited so that one tenant cannot shut the others out."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from lily.model.errors import LilyError


class TenantShares:
    """Counts what each tenant uses. `refusal` makes the error for a tenant that uses its whole share already."""

    def __init__(self, share: int, refusal: Callable[[int], LilyError]) -> None:
        self._share, self._refusal = share, refusal
        self._used: dict[str, int] = {}

    @contextmanager
    def one(self, tenant: str) -> Iterator[None]:
        """Uses one of the tenant's share inside the context."""
        used = self._used.get(tenant, 0)
        if used >= self._share:
            raise self._refusal(self._share)
        self._used[tenant] = used + 1
        try:
            yield
        finally:
            self._used[tenant] -= 1
            if not self._used[tenant]:
                del self._used[tenant]


class TenantTurns:
    """A lock that tenants take in turns: a tenant that waits once is not behind all that another tenant waits for."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # in the order of the turns

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        if self._taken:
            await self._wait(tenant)
        self._taken = True
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, tenant: str) -> None:
        """Returns once the lock was passed on to this caller; it stays taken in between."""
        passed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(passed)
        try:
            await passed
        except asyncio.CancelledError:
            if passed.done() and not passed.cancelled():  # it was this caller's turn
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            tenant = next(iter(self._waiting))
            queue = self._waiting.pop(tenant)
            passed = queue.popleft()
            if queue:
                self._waiting[tenant] = queue  # behind the other tenants
            if not passed.done():  # a caller that was cancelled waits no longer
                passed.set_result(None)
                return
        self._taken = False
