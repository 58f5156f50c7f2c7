"""Requests from coroutines: each waits in a thread, on one of the connections that are kept for its host."""

import asyncio
import ssl
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from lily.outbound.endpoints import Endpoint
from lily.outbound.guard import Guard
from lily.outbound.posting import Poster
from lily.outbound.responses import Response

R = TypeVar("R")


class Request(NamedTuple):
    """`once` if it would have another effect when it comes twice."""

    method: str
    target: str
    body: bytes = b""
    headers: Mapping[str, str] = {}
    once: bool = False


class Caller:
    """At most `connections` requests at a time; others wait. Any event loop may use it. Raises what Poster raises."""

    def __init__(self, guard: Guard, seconds: float, connections: int, identity: ssl.SSLContext | None = None) -> None:
        self._guard, self._seconds, self._identity = guard, seconds, identity
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="outbound")
        self._kept: defaultdict[tuple[str, str, int], list[Poster]] = defaultdict(list)

    async def call(self, to: Endpoint, request: Request) -> Response:
        """Its target replaces that of the endpoint."""
        return await self._run(lambda: self._using(to, lambda poster: _sent(poster, request)))

    async def reach(self, to: Endpoint) -> None:
        """Connects and sends nothing."""
        await self._run(lambda: self._using(to, Poster.connect))

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        for posters in self._kept.values():
            while posters:
                posters.pop().close()

    async def _run(self, call: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _using(self, to: Endpoint, call: Callable[[Poster], R]) -> R:
        kept = self._kept[to.scheme, to.host, to.port]
        try:
            poster = kept.pop()
        except IndexError:
            poster = Poster(to, self._guard, self._seconds, self._identity)
        try:
            return call(poster)
        finally:
            kept.append(poster)


def _sent(poster: Poster, request: Request) -> Response:
    method = poster.once if request.once else poster.repeatable
    return method(request.method, request.target, request.body, request.headers)
