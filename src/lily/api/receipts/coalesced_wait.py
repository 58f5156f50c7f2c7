"""Lets many requests wait for values in the store with one read at a time for all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from contextlib import suppress
from typing import Generic, NoReturn, TypeVar

import structlog

from lily.model.errors import LilyError

SAFETY_SECONDS = 1.0  # a notification is lost if its connection breaks; a read at this interval makes up for it
MAX_WAITING = 5_000  # beyond that a write gets 202 at once, and its receipt shows the result

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Read = Callable[[Collection[Key]], Awaitable[Mapping[Key, Value]]]

log = structlog.get_logger()


class CoalescedWait(Generic[Key, Value]):
    """`read` gets all keys that requests wait for, and returns the values that exist. One read runs at a time: requests
    and notifications that arrive meanwhile share the next one, so the load on the store does not grow with them."""

    def __init__(self, read: Read[Key, Value]) -> None:
        self._read = read
        self._waiting: dict[asyncio.Future[Value], Key] = {}
        self._wake = asyncio.Event()
        self._stale = True  # values may have appeared since the last read

    def notify(self) -> None:
        """There may be new values."""
        self._stale = True
        if self._waiting:
            self._wake.set()

    async def wait(self, key: Key, seconds: float, *, read_now: bool = True) -> Value | None:
        """The value; None if there is none in time, or if too many requests wait. Pass `read_now=False` if the
        last read had no value for the key: then reading can wait for the next notification."""
        if len(self._waiting) >= MAX_WAITING:
            return None
        value: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._waiting[value] = key
        if read_now or self._stale or len(self._waiting) == 1:
            self._wake.set()
        try:
            return await asyncio.wait_for(value, seconds)
        except TimeoutError:
            return None
        finally:
            del self._waiting[value]

    async def run(self) -> NoReturn:
        while True:
            await self._next()
            try:
                await self._read_all()
            except LilyError as error:
                log.warning("watch.cannot_read", reason=str(error))
                self._stale = True
                await asyncio.sleep(SAFETY_SECONDS)

    async def _next(self) -> None:
        """Returns at the next notification or request, and every second while a request waits."""
        with suppress(TimeoutError):
            # Not asyncio.wait_for: before Python 3.12 it can drop a cancellation, and this task would never end.
            async with asyncio.timeout(SAFETY_SECONDS if self._waiting else None):
                await self._wake.wait()

    async def _read_all(self) -> None:
        # Cleared before the read: what is committed during the read sends another notification.
        self._wake.clear()
        self._stale = False
        if not self._waiting:
            return
        values = await self._read(set(self._waiting.values()))
        for waiting, key in self._waiting.items():
            if key in values and not waiting.done():
                waiting.set_result(values[key])
