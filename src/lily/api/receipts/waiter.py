"""Waits for what the pipeline and the relay commit to PostgreSQL. One waiter serves every request of the process."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn, Protocol

from lily.api.receipts.watch import Watch
from lily.model.records import Position

Applied = Mapping[tuple[str, int], int]
Positions = tuple[Position, ...]


class Progress(Protocol):
    """How far the log has come. Each method raises a LilyError while the store is away."""

    async def applied(self) -> Applied:
        """The next offset to apply, by topic and partition."""
        ...

    async def published(self, writes: Collection[Positions]) -> Mapping[Positions, Positions]:
        """For each applied write whose changes are all published: how far propagation has to read to see them."""
        ...

    async def decisions_published(self, tenants: Collection[str]) -> Mapping[str, Positions]:
        """The same for what the administrators of each tenant decided last."""
        ...

    async def unparked(self, tenants: Collection[str]) -> Mapping[str, bool]:
        """The tenants of which propagation has no events set aside."""
        ...


class Waiter:
    """Woken by the notifications of PostgreSQL; reads only while a request waits, and once for all of them."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._known: Applied = {}
        self._applied: Watch[Positions, bool] = Watch(self._read_applied)
        self._published: Watch[Positions, Positions] = Watch(progress.published)
        self._decisions: Watch[str, Positions] = Watch(progress.decisions_published)
        self._unparked: Watch[str, bool] = Watch(progress.unparked)

    def applied_notified(self) -> None:
        self._applied.notify()
        self._unparked.notify()

    def published_notified(self) -> None:
        self._published.notify()
        self._decisions.notify()

    async def applied(self, positions: Sequence[Position], seconds: float) -> bool:
        """Whether all positions are applied, waiting for that at most so long."""
        if self._has(positions):
            return True
        # What the last read did not show needs no new read before something else was announced.
        return await self._applied.wait(tuple(positions), seconds, read_now=False) is not None

    async def published(self, positions: Sequence[Position], seconds: float) -> Positions | None:
        """What propagation has to read to see an applied write; None if it was not published in time."""
        return await self._published.wait(tuple(positions), seconds)

    async def decision_published(self, tenant: str, seconds: float) -> Positions | None:
        """The same for the tenant's last decision."""
        return await self._decisions.wait(tenant, seconds)

    async def unparked(self, tenant: str, seconds: float) -> bool:
        """Whether propagation has no events of the tenant set aside, waiting for that at most so long."""
        return await self._unparked.wait(tenant, seconds) is not None

    async def is_applied(self, positions: Sequence[Position]) -> bool:
        """Whether all positions are applied now."""
        if not self._has(positions):
            self._known = await self._progress.applied()
        return self._has(positions)

    async def run(self) -> NoReturn:
        watches = (self._applied, self._published, self._decisions, self._unparked)
        await asyncio.gather(*(watch.run() for watch in watches))
        raise AssertionError("a watch never ends")

    async def _read_applied(self, questions: Collection[Positions]) -> dict[Positions, bool]:
        self._known = await self._progress.applied()
        return {positions: True for positions in questions if self._has(positions)}

    def _has(self, positions: Sequence[Position]) -> bool:
        return all(self._known.get((at.topic, at.partition), 0) > at.offset for at in positions)
