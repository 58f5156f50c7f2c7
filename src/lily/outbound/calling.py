"""Requests from coroutines, on connections that are kept for their host."""

import asyncio
import ssl
import time
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple
from weakref import WeakKeyDictionary

from lily.outbound.connections import tls
from lily.outbound.endpoints import Endpoint
from lily.outbound.guard import Guard
from lily.outbound.http_connection import BadResponse, Closed, HttpConnection, connected, written
from lily.outbound.posting import KEEP_SECONDS, unreachable
from lily.outbound.responses import Response

_CLOSED = (Closed, ConnectionResetError, BrokenPipeError)


class Request(NamedTuple):
    """`once` if it would have another effect when it comes twice."""

    method: str
    target: str
    body: bytes = b""
    headers: Mapping[str, str] = {}
    once: bool = False


class _Kept:
    """The connections of one event loop, which alone may use them."""

    def __init__(self, connections: int) -> None:
        self.turn = asyncio.Semaphore(connections)
        self.idle: defaultdict[tuple[str, str, int], list[HttpConnection]] = defaultdict(list)

    def take(self, place: tuple[str, str, int]) -> HttpConnection | None:
        """One whose host was resolved and checked not long ago."""
        while self.idle[place]:
            found = self.idle[place].pop()
            if found.is_open and time.monotonic() - found.opened_at <= KEEP_SECONDS:
                return found
            found.close()
        return None

    def close(self) -> None:
        for listed in self.idle.values():
            while listed:
                listed.pop().close()


class Caller:
    """At most `connections` requests at a time; others wait. Any event loop may use it. Raises Unreachable,
    UnresolvedName and ForbiddenAddress. Follows no redirect."""

    def __init__(self, guard: Guard, seconds: float, connections: int, identity: ssl.SSLContext | None = None) -> None:
        self._guard, self._seconds, self._connections, self._identity = guard, seconds, connections, identity
        self._resolving = ThreadPoolExecutor(connections, thread_name_prefix="resolving")
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, _Kept] = WeakKeyDictionary()

    async def call(self, to: Endpoint, request: Request) -> Response:
        """Its target replaces that of the endpoint. A request that is not `once` is repeated if the endpoint closed a
        kept connection; one that is gets a new connection, because nothing tells whether it was read before that."""
        text, kept = written(to, *request[:-1]), self._of_loop()
        async with kept.turn:
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._exchanged(kept, to, text, once=request.once)
            except (OSError, BadResponse) as error:
                raise unreachable(to, error, self._seconds) from error

    async def reach(self, to: Endpoint) -> None:
        """Connects and sends nothing."""
        try:
            async with asyncio.timeout(self._seconds):
                (await self._connected(to)).close()
        except OSError as error:
            raise unreachable(to, error, self._seconds) from error

    async def close(self) -> None:
        here = asyncio.get_running_loop()
        for loop, kept in list(self._kept.items()):
            if loop is here:
                kept.close()
            elif not loop.is_closed():
                loop.call_soon_threadsafe(kept.close)
        await asyncio.to_thread(self._resolving.shutdown, cancel_futures=True)

    async def _exchanged(self, kept: _Kept, to: Endpoint, text: bytes, *, once: bool) -> Response:
        place = (to.scheme, to.host, to.port)
        while not once and (reused := kept.take(place)) is not None:
            try:
                response = await reused.send(text)
            except _CLOSED:
                continue
            return self._returned(kept, place, reused, response)
        made = await self._connected(to)
        return self._returned(kept, place, made, await made.send(text))

    @staticmethod
    def _returned(kept: _Kept, place: tuple[str, str, int], connection: HttpConnection, response: Response) -> Response:
        if connection.is_open:
            kept.idle[place].append(connection)
        return response

    async def _connected(self, to: Endpoint) -> HttpConnection:
        loop = asyncio.get_running_loop()
        addresses = await loop.run_in_executor(self._resolving, self._guard.addresses, to)
        return await connected(to, addresses, (self._identity or tls()) if to.is_encrypted else None)

    def _of_loop(self) -> _Kept:
        loop = asyncio.get_running_loop()
        if loop not in self._kept:
            self._kept[loop] = _Kept(self._connections)
        return self._kept[loop]
