"""The client for ordinary code."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Self, TypeVar

import httpx
from websockets.sync.client import ClientConnection, connect

from lily.client import calls
from lily.client.address import Address
from lily.client.api import Api
from lily.client.bulk import BATCH, Bulk, Events, Progress
from lily.client.call import Call, failure_of, next_page, request_of, result_of
from lily.client.errors import Unavailable
from lily.client.results import BulkResult, Notification, Page
from lily.client.retry import NEVER
from lily.client.subscription import BROKEN, CLOSE_SECONDS, OPEN_SECONDS, Feed, Subscription

T = TypeVar("T")


class Notifications(Feed):
    """Iterates over changes without end. Reconnects by itself and resumes after the last message.

    Inside a `with` block it is connected from the start, so it misses nothing that happens there.
    """

    def __init__(self, subscription: Subscription) -> None:
        super().__init__(subscription)
        self._open = ExitStack()
        self._socket: ClientConnection | None = None

    def receive(self, timeout: float | None = None) -> Notification | None:
        """Returns the next change, or None if none comes within `timeout` seconds. Raises LilyApiError."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            message = self._next_message(left)
            change = None if message is None else self._subscription.read(message)
            if change is not None:
                return change

    def close(self) -> None:
        self._socket = None
        self._open.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Notification:
        while True:
            change = self.receive()
            if change is not None:
                return change

    def __enter__(self) -> Self:
        while self._socket is None:
            try:
                self._connected()
            except BROKEN as error:
                self._pause_after(error)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _next_message(self, timeout: float | None) -> str | bytes | None:
        """None if the time is up, or if the connection broke and has to be opened again."""
        try:
            socket = self._connected()
            try:
                return socket.recv(timeout)
            except TimeoutError:
                return None
        except BROKEN as error:
            self._pause_after(error)
            return None

    def _connected(self) -> ClientConnection:
        if self._socket is None:
            url, headers, tls = self._subscription.request()
            socket = connect(
                url, ssl=tls, additional_headers=headers, open_timeout=OPEN_SECONDS, close_timeout=CLOSE_SECONDS
            )
            self._socket = self._open.enter_context(socket)
            self._subscription.connected(self._socket.response)
        return self._socket

    def _pause_after(self, error: Exception) -> None:
        self.close()
        time.sleep(self._subscription.pause_after(error))


class Lily(Api[Notifications]):
    """A client for one Lily and one tenant. Threads may share it; close it, or use it in a `with` block.

    Without arguments it uses LILY_URL and LILY_TOKEN, else the embedded stack of LILY_DATA_DIR (default `.lily`).
    """

    def ingest_many(
        self, events: Events, *, wait: int | None = None, batch: int = BATCH, on_progress: Progress | None = None
    ) -> BulkResult:
        """Sends any number of events, each `{entity_type, attributes, operation?, time?}`, in batches.

        A refused event does not hold up the others. With `wait`, waits for each batch until it can be read.
        """
        bulk = Bulk(batch, on_progress)
        for event in events:
            self._send_rows(bulk, bulk.add(event), wait)
        self._send_rows(bulk, bulk.finish(), wait)
        return bulk.result

    def send(self, call: Call[T]) -> T:
        """Sends a call, with retries while they can help. Raises LilyApiError."""
        attempts = (self._retry if call.retryable else NEVER).begin()
        while True:
            try:
                return self._send_once(call)
            except Unavailable as failure:
                pause = attempts.pause_after(failure)
            time.sleep(pause)

    def pages(self, call: Call[Page[T]]) -> Iterator[T]:
        """Iterates over the items of this page and of all that follow."""
        following: Call[Page[T]] | None = call
        while following is not None:
            page = self.send(following)
            yield from page.items
            following = next_page(following, page)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _open(self, address: Address) -> None:
        verify = address.tls or True
        self._http = httpx.Client(base_url=address.url, headers=address.headers, verify=verify)

    def _follow(self, subscription: Subscription) -> Notifications:
        return Notifications(subscription)

    def _send_once(self, call: Call[T]) -> T:
        request = request_of(self._http, call)
        try:
            response = self._http.send(request)
        except httpx.HTTPError as error:
            raise failure_of(request, error) from error
        return result_of(call, response)

    def _send_rows(self, bulk: Bulk, rows: bytes | None, wait: int | None) -> None:
        if rows is not None:
            bulk.take(self.send(calls.assets.ingest_rows(rows, wait)))
