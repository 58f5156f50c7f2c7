"""The client for asynchronous code: the same calls, awaited."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

import httpx
from websockets.asyncio.client import ClientConnection, connect

from lily.client import calls, lineage, rules
from lily.client.address import find_address
from lily.client.answers import BulkResult, Notification, Page
from lily.client.bulk import BATCH, Bulk, Event, Progress
from lily.client.call import Call, after, failure_of, request_of, result_of
from lily.client.errors import Unavailable
from lily.client.retry import NEVER, Retry
from lily.client.subscription import BROKEN, CLOSE_SECONDS, OPEN_SECONDS, Subscription
from lily.client.surface import worded_as

P = ParamSpec("P")
T = TypeVar("T")


def _method(describe: Callable[P, Call[T]]) -> Callable[Concatenate["AsyncLily", P], Awaitable[T]]:
    @worded_as(describe)
    async def method(self: "AsyncLily", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(describe(*args, **kwargs))

    return method


def _pages(describe: Callable[P, Call[Page[T]]]) -> Callable[Concatenate["AsyncLily", P], AsyncIterator[T]]:
    @worded_as(describe)
    async def method(self: "AsyncLily", /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        call: Call[Page[T]] | None = describe(*args, **kwargs)
        while call is not None:
            page = await self.send(call)
            for item in page.items:
                yield item
            call = after(call, page)

    return method


class AsyncLily:
    """Talks to one Lily for one tenant, within one event loop. Close it, or use it in an `async with`.

    Without arguments it finds LILY_URL and LILY_TOKEN, else the embedded stack of this directory.
    """

    def __init__(self, url: str | None = None, token: str | None = None, *, retry: Retry | None = None) -> None:
        self._address = find_address(url, token)
        self._retry = retry or Retry()
        self._http = httpx.AsyncClient(base_url=self._address.url, headers=self._address.headers)

    ingest = _method(calls.ingest)
    get = _method(calls.get)
    find = _pages(calls.find)
    batch_get = _method(calls.batch_get)
    update = _method(calls.update)
    delete = _method(calls.delete)
    restore = _method(calls.restore)
    tags = _method(calls.tags)
    add_tag = _method(calls.add_tag)
    remove_tag = _method(calls.remove_tag)
    suppress_tag = _method(calls.suppress_tag)
    unsuppress_tag = _method(calls.unsuppress_tag)
    tag_definitions = _pages(calls.tag_definitions)
    define_tag = _method(calls.define_tag)
    redefine_tag = _method(calls.redefine_tag)
    undefine_tag = _method(calls.undefine_tag)
    attributes = _method(rules.attributes)
    define_rule = _method(rules.define_rule)
    redefine_rule = _method(rules.redefine_rule)
    undefine_rule = _method(rules.undefine_rule)
    settings = _method(calls.settings)
    decide = _method(calls.decide)
    would_reach = _pages(calls.would_reach)
    relate = _method(lineage.relate)
    unrelate = _method(lineage.unrelate)
    relate_by_sql = _method(lineage.relate_by_sql)
    take_lineage = _method(lineage.take_lineage)
    travel = _method(lineage.travel)
    history = _pages(calls.history)
    dead_letters = _pages(calls.dead_letters)
    replay = _method(calls.replay)
    health = _method(calls.health)
    rules = _pages(rules.rules)  # last, as the next: from here on the name is the method's
    lineage = _method(lineage.lineage)

    @property
    def url(self) -> str:
        return self._address.url

    async def ingest_many(
        self,
        events: Iterable[Event] | AsyncIterable[Event],
        *,
        wait: int | None = None,
        batch: int = BATCH,
        on_progress: Progress | None = None,
    ) -> BulkResult:
        """Sends any number of events, each `{entity_type, attributes, operation?, time?}`, in batches.

        A refused row does not hold up the others. With `wait`, each batch is answered when it can be read.
        """
        bulk = Bulk(batch, on_progress)
        async for event in events if isinstance(events, AsyncIterable) else _asynchronous(events):
            await self._send_rows(bulk, bulk.add(event), wait)
        await self._send_rows(bulk, bulk.finish(), wait)
        return bulk.result

    def notifications(
        self,
        since: str | None = None,
        *,
        entity_type: str | Sequence[str] | None = None,
        change: str | Sequence[str] | None = None,
        metadata_id: str | Sequence[str] | None = None,
        tag: str | Sequence[str] | None = None,
    ) -> "AsyncNotifications":
        """The changes as they happen, from now on or since a position."""
        filters = {"entity_type": entity_type, "change": change, "metadata_id": metadata_id, "tag": tag}
        return AsyncNotifications(Subscription(self._address, self._retry, since, filters))

    async def send(self, call: Call[T]) -> T:
        """Makes a call, again and again while that can help. Raises LilyApiError."""
        attempts = (self._retry if call.repeatable else NEVER).begin()
        while True:
            try:
                return await self._send_once(call)
            except Unavailable as failure:
                pause = attempts.pause_after(failure)
            await asyncio.sleep(pause)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()

    async def _send_once(self, call: Call[T]) -> T:
        request = request_of(self._http, call)
        try:
            answer = await self._http.send(request)
        except httpx.HTTPError as error:
            raise failure_of(request, error) from error
        return result_of(call, answer)

    async def _send_rows(self, bulk: Bulk, rows: bytes | None, wait: int | None) -> None:
        if rows is not None:
            bulk.take(await self.send(calls.ingest_rows(rows, wait)))


class AsyncNotifications:
    """Iterates over changes, for ever; reconnects by itself and goes on where it was.

    In an `async with` the connection stands at once, so nothing that happens inside is missed.
    """

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._open = AsyncExitStack()
        self._socket: ClientConnection | None = None

    @property
    def position(self) -> str | None:
        """Where to resume later: `notifications(since=position)`."""
        return self._subscription.position

    async def close(self) -> None:
        self._socket = None
        await self._open.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notification:
        """Safe to cancel, as by `asyncio.timeout`. Raises LilyApiError if Lily stays away."""
        while True:
            try:
                message = await (await self._connected()).recv()
            except BROKEN as error:
                await self._pause_after(error)
                continue
            heard = self._subscription.hear(message)
            if heard is not None:
                return heard

    async def __aenter__(self) -> Self:
        while True:
            try:
                await self._connected()
            except BROKEN as error:
                await self._pause_after(error)
            else:
                return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()

    async def _connected(self) -> ClientConnection:
        if self._socket is None:
            asked = self._subscription
            opening = connect(
                asked.url,
                additional_headers=asked.headers,
                open_timeout=OPEN_SECONDS,
                close_timeout=CLOSE_SECONDS,
            )
            self._socket = await self._open.enter_async_context(opening)
            asked.connected(self._socket.response)
        return self._socket

    async def _pause_after(self, error: Exception) -> None:
        await self.close()
        await asyncio.sleep(self._subscription.pause_after(error))


async def _asynchronous(events: Iterable[Event]) -> AsyncIterator[Event]:
    for event in events:
        yield event
