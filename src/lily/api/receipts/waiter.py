"""Waits until the pipeline has applied a position of the log. One waiter serves every request of the process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NoReturn

import structlog

from lily.bus.producer import Position
from lily.model.errors import LilyError

SAFETY_SECONDS = 1.0  # a notification can be lost with its connection; then a poll finds out
MOST_WAITING = 5_000  # past that a write is answered 202 at once: accepted, and its receipt tells the rest

Applied = Mapping[tuple[str, int], int]
log = structlog.get_logger()


class Waiter:
    """Knows how far each partition is applied, as of the last notification; reads it anew only while someone waits."""

    def __init__(self, read: Callable[[], Awaitable[Applied]]) -> None:
        self._read = read
        self._applied: Applied = {}
        self._waiting: dict[asyncio.Future[None], Sequence[Position]] = {}
        self._news = asyncio.Event()
        self._stale = True

    def hear(self) -> None:
        """Something was applied."""
        self._stale = True
        if self._waiting:
            self._news.set()

    async def reached(self, positions: Sequence[Position], seconds: float) -> bool:
        """Whether all positions are applied, waiting for that at most so long."""
        if self._has(positions):
            return True
        if len(self._waiting) >= MOST_WAITING:
            return False
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[reached] = positions
        if self._stale or len(self._waiting) == 1:
            self._news.set()
        try:
            await asyncio.wait_for(reached, seconds)
        except TimeoutError:
            return False
        finally:
            del self._waiting[reached]
        return True

    async def is_applied(self, positions: Sequence[Position]) -> bool:
        """Whether all positions are applied now."""
        if not self._has(positions):
            self._applied = await self._read()
        return self._has(positions)

    async def run(self) -> NoReturn:
        while True:
            await self._wake()
            try:
                await self._refresh()
            except LilyError as error:
                log.warning("waiter.cannot_read", reason=str(error))
                self._stale = True
                await asyncio.sleep(SAFETY_SECONDS)

    async def _wake(self) -> None:
        if not self._waiting:
            await self._news.wait()
            return
        try:
            await asyncio.wait_for(self._news.wait(), SAFETY_SECONDS)
        except TimeoutError:
            return

    async def _refresh(self) -> None:
        # Cleared before the read: what is applied during it makes news again.
        self._news.clear()
        self._stale = False
        self._applied = await self._read()
        for reached, positions in self._waiting.items():
            if not reached.done() and self._has(positions):
                reached.set_result(None)

    def _has(self, positions: Sequence[Position]) -> bool:
        return all(self._applied.get((at.topic, at.partition), 0) > at.offset for at in positions)
