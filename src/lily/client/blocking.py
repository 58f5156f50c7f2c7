"""The client for ordinary code."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

import httpx
from websockets.sync.client import ClientConnection, connect

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


def _method(describe: Callable[P, Call[T]]) -> Callable[Concatenate["Lily", P], T]:
    @worded_as(describe)
    def method(self: "Lily", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(describe(*args, **kwargs))

    return method


def _pages(describe: Callable[P, Call[Page[T]]]) -> Callable[Concatenate["Lily", P], Iterator[T]]:
    @worded_as(describe)
    def method(self: "Lily", /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        call: Call[Page[T]] | None = describe(*args, **kwargs)
        while call is not None:
            page = self.send(call)
            yield from page.items
            call = after(call, page)

    return method


class Lily:
    """Talks to one Lily for one tenant. Safe to share between threads; close it, or use it in a `with`.

    Without arguments it finds LILY_URL and LILY_TOKEN, else the embedded stack of this directory.
    """

    def __init__(self, url: str | None = None, token: str | None = None, *, retry: Retry | None = None) -> None:
        self._address = find_address(url, token)
        self._retry = retry or Retry()
        self._http = httpx.Client(base_url=self._address.url, headers=self._address.headers)

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

    def ingest_many(
        self,
        events: Iterable[Event],
        *,
        wait: int | None = None,
        batch: int = BATCH,
        on_progress: Progress | None = None,
    ) -> BulkResult:
        """Sends any number of events, each `{entity_type, attributes, operation?, time?}`, in batches.

        A refused row does not hold up the others. With `wait`, each batch is answered when it can be read.
        """
        bulk = Bulk(batch, on_progress)
        for event in events:
            self._send_rows(bulk, bulk.add(event), wait)
        self._send_rows(bulk, bulk.finish(), wait)
        return bulk.result

    def notifications(
        self,
        since: str | None = None,
        *,
        entity_type: str | Sequence[str] | None = None,
        change: str | Sequence[str] | None = None,
        metadata_id: str | Sequence[str] | None = None,
        tag: str | Sequence[str] | None = None,
    ) -> "Notifications":
        """The changes as they happen, from now on or since a position."""
        filters = {"entity_type": entity_type, "change": change, "metadata_id": metadata_id, "tag": tag}
        return Notifications(Subscription(self._address, self._retry, since, filters))

    def send(self, call: Call[T]) -> T:
        """Makes a call, again and again while that can help. Raises LilyApiError."""
        attempts = (self._retry if call.repeatable else NEVER).begin()
        while True:
            try:
                return self._send_once(call)
            except Unavailable as failure:
                pause = attempts.pause_after(failure)
            time.sleep(pause)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _send_once(self, call: Call[T]) -> T:
        request = request_of(self._http, call)
        try:
            answer = self._http.send(request)
        except httpx.HTTPError as error:
            raise failure_of(request, error) from error
        return result_of(call, answer)

    def _send_rows(self, bulk: Bulk, rows: bytes | None, wait: int | None) -> None:
        if rows is not None:
            bulk.take(self.send(calls.ingest_rows(rows, wait)))


class Notifications:
    """Iterates over changes, for ever; reconnects by itself and goes on where it was.

    In a `with` the connection stands at once, so nothing that happens inside is missed.
    """

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._open = ExitStack()
        self._socket: ClientConnection | None = None

    @property
    def position(self) -> str | None:
        """Where to resume later: `notifications(since=position)`."""
        return self._subscription.position

    def receive(self, timeout: float | None = None) -> Notification | None:
        """The next change; None if there is none within so many seconds. Raises LilyApiError if Lily stays away."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            message = self._next_message(left)
            heard = None if message is None else self._subscription.hear(message)
            if heard is not None:
                return heard

    def close(self) -> None:
        self._socket = None
        self._open.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Notification:
        while True:
            heard = self.receive()
            if heard is not None:
                return heard

    def __enter__(self) -> Self:
        while True:
            try:
                self._connected()
            except BROKEN as error:
                self._pause_after(error)
            else:
                return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _next_message(self, timeout: float | None) -> str | bytes | None:
        """None where the time is up, or the connection had to be made anew."""
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
            asked = self._subscription
            opening = connect(
                asked.url,
                additional_headers=asked.headers,
                open_timeout=OPEN_SECONDS,
                close_timeout=CLOSE_SECONDS,
            )
            self._socket = self._open.enter_context(opening)
            asked.connected(self._socket.response)
        return self._socket

    def _pause_after(self, error: Exception) -> None:
        self.close()
        time.sleep(self._subscription.pause_after(error))
