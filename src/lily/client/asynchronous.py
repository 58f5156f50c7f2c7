"""The client for asynchronous code: the same calls, awaited."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, TypeVar

import httpx
from websockets.asyncio.client import ClientConnection, connect

from lily.client import calls
from lily.client.address import Address
from lily.client.api import Api
from lily.client.bulk import BATCH, Bulk, Event, Events, Progress
from lily.client.call import Call, failure_of, next_page, request_of, result_of
from lily.client.errors import Unavailable
from lily.client.results import BulkResult, Notification, Page
from lily.client.retry import NEVER
from lily.client.subscription import BROKEN, CLOSE_SECONDS, OPEN_SECONDS, Feed, Subscription

T = TypeVar("T")


class AsyncNotifications(Feed):
    """Iterates over changes without end. Reconnects by itself and resumes after the last message.

    Inside an `async with` block it is connected from the start, so it misses nothing that happens there.
    """

    def __init__(self, subscription: Subscription) -> None:
        super().__init__(subscription)
        self._open = AsyncExitStack()
        self._socket: ClientConnection | None = None

    async def close(self) -> None:
        self._socket = None
        await self._open.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notification:
        """Safe to cancel, as `asyncio.timeout` does. Raises LilyApiError."""
        while True:
            try:
                message = await (await self._connected()).recv()
            except BROKEN as error:
                await self._pause_after(error)
                continue
            change = self._subscription.read(message)
            if change is not None:
                return change

    async def __aenter__(self) -> Self:
        while self._socket is None:
            try:
                await self._connected()
            except BROKEN as error:
                await self._pause_after(error)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()

    async def _connected(self) -> ClientConnection:
        if self._socket is None:
            url, headers, tls = self._subscription.request()
            socket = connect(
                url, ssl=tls, additional_headers=headers, open_timeout=OPEN_SECONDS, close_timeout=CLOSE_SECONDS
            )
            self._socket = await self._open.enter_async_context(socket)
            self._subscription.connected(self._socket.response)
        return self._socket

    async def _pause_after(self, error: Exception) -> None:
        await self.close()
        await asyncio.sleep(self._subscription.pause_after(error))


class AsyncLily(Api[AsyncNotifications]):
    """A client for one Lily and one tenant, within one event loop. Close it, or use it in an `async with` block.

    Without arguments it uses LILY_URL and LILY_TOKEN, else the embedded stack of LILY_DATA_DIR (default `.lily`).
    """

    async def ingest_many(
        self,
        events: Events | AsyncIterable[Event],
        *,
        wait: int | None = None,
        batch: int = BATCH,
        on_progress: Progress | None = None,
    ) -> BulkResult:
        """Sends any number of events, each `{entity_type, attributes, operation?, time?}`, in batches.

        A refused event does not hold up the others. With `wait`, waits for each batch until it can be read.
        """
        bulk = Bulk(batch, on_progress)
        async for event in events if isinstance(events, AsyncIterable) else _asynchronous(events):
            await self._send_rows(bulk, bulk.add(event), wait)
        await self._send_rows(bulk, bulk.finish(), wait)
        return bulk.result

    async def send(self, call: Call[T]) -> T:
        """Sends a call, with retries while they can help. Raises LilyApiError."""
        attempts = (self._retry if call.retryable else NEVER).begin()
        while True:
            try:
                return await self._send_once(call)
            except Unavailable as failure:
                pause = attempts.pause_after(failure)
            await asyncio.sleep(pause)

    async def pages(self, call: Call[Page[T]]) -> AsyncIterator[T]:
        """Iterates over the items of this page and of all that follow."""
        following: Call[Page[T]] | None = call
        while following is not None:
            page = await self.send(following)
            for item in page.items:
                yield item
            following = next_page(following, page)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()

    def _open(self, address: Address) -> None:
        verify = address.tls or True
        self._http = httpx.AsyncClient(base_url=address.url, headers=address.headers, verify=verify)

    def _follow(self, subscription: Subscription) -> AsyncNotifications:
        return AsyncNotifications(subscription)

    async def _send_once(self, call: Call[T]) -> T:
        request = request_of(self._http, call)
        try:
            response = await self._http.send(request)
        except httpx.HTTPError as error:
            raise failure_of(request, error) from error
        return result_of(call, response)

    async def _send_rows(self, bulk: Bulk, rows: bytes | None, wait: int | None) -> None:
        if rows is not None:
            bulk.take(await self.send(calls.assets.ingest_rows(rows, wait)))


async def _asynchronous(events: Events) -> AsyncIterator[Event]:
    for event in events:
        yield event
