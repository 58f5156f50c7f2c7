"""Waits for what the pipeline and the relay commit to PostgreSQL. One waiter serves every request of the process."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn, Protocol

from lily.api.receipts.coalesced_wait import CoalescedWait
from lily.model.records import Position

Applied = Mapping[tuple[str, int], int]
Positions = tuple[Position, ...]


class Progress(Protocol):
    """How much of the log is applied and published. Each method raises a LilyError while the store is unavailable."""

    async def applied(self) -> Applied:
        """The next offset to apply, by topic and partition."""
        ...

    async def published(self, writes: Collection[Positions]) -> Mapping[Positions, Positions]:
        """For each applied write whose changes are all published: how far propagation has to read to see them."""
        ...

    async def decisions_published(self, tenants: Collection[str]) -> Mapping[str, Positions]:
        """The same for the last decision of each tenant's administrators."""
        ...

    async def unparked(self, tenants: Collection[str]) -> Mapping[str, bool]:
        """The tenants that have no events parked by propagation."""
        ...


class Waiter:
    """Woken by the notifications of PostgreSQL; reads only while a request waits, and once for all of them."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._cached: Applied = {}
        self._applied: CoalescedWait[Positions, bool] = CoalescedWait(self._read_applied)
        self._published: CoalescedWait[Positions, Positions] = CoalescedWait(progress.published)
        self._decisions: CoalescedWait[str, Positions] = CoalescedWait(progress.decisions_published)
        self._unparked: CoalescedWait[str, bool] = CoalescedWait(progress.unparked)

    def applied_notified(self) -> None:
        self._applied.notify()
        self._unparked.notify()

    def published_notified(self) -> None:
        self._published.notify()
        self._decisions.notify()

    async def applied(self, positions: Sequence[Position], seconds: float) -> bool:
        """Whether all positions are applied, waiting for at most `seconds`."""
        if self._has(positions):
            return True
        # The last read did not have these positions, and reading again makes no sense before the next notification.
        return await self._applied.wait(tuple(positions), seconds, read_now=False) is not None

    async def published(self, positions: Sequence[Position], seconds: float) -> Positions | None:
        """What propagation has to read to see an applied write; None if it was not published in time."""
        return await self._published.wait(tuple(positions), seconds)

    async def decision_published(self, tenant: str, seconds: float) -> Positions | None:
        """The same for the tenant's last decision."""
        return await self._decisions.wait(tenant, seconds)

    async def unparked(self, tenant: str, seconds: float) -> bool:
        """Whether the tenant has no events parked by propagation, waiting for at most `seconds`."""
        return await self._unparked.wait(tenant, seconds) is not None

    async def is_applied(self, positions: Sequence[Position]) -> bool:
        """Whether all positions are applied now."""
        if not self._has(positions):
            self._cached = await self._progress.applied()
        return self._has(positions)

    async def run(self) -> NoReturn:
        waits = (self._applied, self._published, self._decisions, self._unparked)
        await asyncio.gather(*(wait.run() for wait in waits))
        raise AssertionError("a wait loop never ends")

    async def _read_applied(self, writes: Collection[Positions]) -> dict[Positions, bool]:
        self._cached = await self._progress.applied()
        return {positions: True for positions in writes if self._has(positions)}

    def _has(self, positions: Sequence[Position]) -> bool:
        return all(self._cached.get((at.topic, at.partition), 0) > at.offset for at in positions)
