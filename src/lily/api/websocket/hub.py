"""Fans the change log out: one consumer per process, any number of listeners, each of one tenant."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog
from prometheus_client import Gauge

from lily.api.http.errors import Declined, too_many
from lily.api.tenant_shares import TenantShares
from lily.api.websocket.messages import Message, MessageFilter, read_messages, tenant_of
from lily.brokers import Brokers
from lily.bus import topics
from lily.bus.changefeed import Changefeed, PositionLost, replay
from lily.bus.offsets import Offsets
from lily.model.errors import Transient
from lily.model.records import ConsumedRecord

TOPICS = (topics.METADATA, topics.NOTIFICATIONS)  # changes of assets, and what propagation and incidents did

QUEUED = 1_000  # messages that a listener may be behind before its connection is closed
NEAR = 200  # a listener that resumes joins the live feed when it is behind by at most this: that fits its queue
LOOKED_UP = 200  # messages that are checked together
AHEAD_SECONDS = 5.0  # a position may come from another process, whose feed can be slightly ahead of this one

log = structlog.get_logger()


class Outgoing(NamedTuple):
    """A message as it is sent, and the asset that it is about: its qualified name if known, else its id; empty for an
    incident without an asset. `incident` is the id of the incident that it is about, empty for other messages."""

    text: str
    asset: str
    incident: str = ""


class TooManyReplays(Transient):
    """The tenant has too many listeners that catch up from an old position."""


@dataclass(slots=True, eq=False)
class Listener:
    tenant: str
    filter: MessageFilter
    queue: asyncio.Queue[Outgoing] = field(default_factory=lambda: asyncio.Queue(QUEUED))
    overrun: asyncio.Event = field(default_factory=asyncio.Event)

    def enqueue(self, message: Outgoing) -> None:
        try:
            self.queue.put_nowait(message)
        except asyncio.QueueFull:
            self.overrun.set()

    async def queued(self) -> list[Outgoing]:
        """All messages that wait, at least one: what they are about is looked up together."""
        messages = [await self.queue.get()]
        while len(messages) < LOOKED_UP and not self.queue.empty():
            messages.append(self.queue.get_nowait())
        return messages


class Hub:
    """Reads the change log only while there are listeners."""

    def __init__(self, brokers: Brokers, followers: Gauge, replays: int) -> None:
        self._brokers = brokers
        self._connections = TenantShares(0, _too_many_connections)
        self._replays = TenantShares(replays, _too_many_replays)
        self._gauge = followers
        self._followers = 0
        self._listeners: dict[str, set[Listener]] = {}
        self._feed: Changefeed | None = None
        self._offsets: Offsets = {}
        self._moved = asyncio.Event()
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def following(self, tenant: str, most: int) -> AsyncIterator[None]:
        """Keeps the feed running inside the context. Raises LogUnavailable if it cannot start, and Declined with 429 if
        the tenant has as many connections already as `most`; 0 for no limit."""
        with self._connections.one(tenant, most):
            async with self._lock:
                if self._feed is None:
                    feed = Changefeed(self._brokers, TOPICS, self._deliver)
                    self._offsets = await feed.start()
                    self._feed = feed
                self._count(1)
            try:
                yield
            finally:
                self._count(-1)
                await asyncio.shield(self._stop_if_unused())

    def offsets(self) -> Offsets:
        """The offsets of the live feed."""
        return dict(self._offsets)

    async def messages(self, listener: Listener, since: Offsets | None) -> AsyncGenerator[list[Outgoing]]:
        """The messages that match the listener's filter, from a position or from now on, with no gap or repeat.

        It never ends. The past is replayed by a separate consumer until little is missing. Then the listener joins the
        live feed, and what is in between is replayed before its queue is read. Raises PositionLost and LogUnavailable,
        and TooManyReplays if the tenant has too many listeners in the past already: each has a consumer of its own.
        """
        at = self.offsets() if since is None else self._resumed(since)
        await self._reach(at)
        if self._behind(at) > NEAR:
            with self._replays.one(listener.tenant):
                while self._behind(at) > NEAR:
                    async for messages in self._replayed(listener, at, self.offsets()):
                        yield messages
        with self._joined(listener):
            async for messages in self._replayed(listener, at, self.offsets()):
                yield messages
            while True:
                yield await listener.queued()

    async def close(self) -> None:
        if self._feed is not None:
            await self._feed.stop()

    def _behind(self, at: Offsets) -> int:
        return sum(self._offsets[partition] - offset for partition, offset in at.items())

    def _resumed(self, since: Offsets) -> Offsets:
        """A partition that was created after the position is read from its beginning. A topic that the position does
        not name, because an older version issued it, is read from now on."""
        named = {topic for topic, _ in since}
        return {at: since.get(at, 0) if at[0] in named else offset for at, offset in self._offsets.items()}

    async def _reach(self, at: Offsets) -> None:
        try:
            async with asyncio.timeout(AHEAD_SECONDS):
                while any(offset > self._offsets[partition] for partition, offset in at.items()):
                    await self._moved.wait()
        except TimeoutError as error:
            raise PositionLost(
                "The position is ahead of the log. Read the current state, then connect without `since`."
            ) from error

    async def _replayed(self, listener: Listener, at: Offsets, end: Offsets) -> AsyncIterator[list[Outgoing]]:
        """Yields the matching messages of each batch between `at` and `end`, and advances `at`."""
        if at == end:
            return
        async for batch in replay(self._brokers, at, end):
            found: list[Outgoing] = []
            for record in batch:
                before = dict(at)
                at[record.topic, record.partition] = record.offset + 1
                messages = _messages(record) if tenant_of(record) == listener.tenant else ()
                for message, position in _positioned(messages, before, at):
                    if listener.filter.matches(message):
                        found.append(_outgoing(message, position))
            if found:
                yield found
        at.update(end)

    @contextmanager
    def _joined(self, listener: Listener) -> Iterator[None]:
        self._listeners.setdefault(listener.tenant, set()).add(listener)
        try:
            yield
        finally:
            self._listeners[listener.tenant].discard(listener)
            if not self._listeners[listener.tenant]:
                del self._listeners[listener.tenant]

    async def _deliver(self, batch: list[ConsumedRecord]) -> None:
        for record in batch:
            listeners = self._listeners.get(tenant_of(record), ())
            before = dict(self._offsets) if listeners else self._offsets
            self._offsets[record.topic, record.partition] = record.offset + 1
            for message, position in _positioned(_messages(record) if listeners else (), before, self._offsets):
                matching = [listener for listener in listeners if listener.filter.matches(message)]
                if matching:
                    outgoing = _outgoing(message, position)
                    for listener in matching:
                        listener.enqueue(outgoing)
        self._moved.set()
        self._moved = asyncio.Event()

    async def _stop_if_unused(self) -> None:
        async with self._lock:
            if self._followers == 0 and self._feed is not None:
                feed, self._feed = self._feed, None
                await feed.stop()

    def _count(self, change: int) -> None:
        self._followers += change
        self._gauge.set(self._followers)


def _outgoing(message: Message, position: Offsets) -> Outgoing:
    return Outgoing(message.at(position), message.body.get("qualified_name") or message.metadata_id, message.incident)


def _too_many_connections(share: int) -> Declined:
    text = f"your tenant has {share} connections to this process already; close one of them first"
    return too_many("TOO_MANY_CONNECTIONS", text, "/ws/notifications")


def _too_many_replays(share: int) -> TooManyReplays:
    return TooManyReplays(f"{share} connections of your tenant catch up already; resume with this position later")


def _messages(record: ConsumedRecord) -> Sequence[Message]:
    try:
        return read_messages(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning("changefeed.unreadable", partition=record.partition, offset=record.offset, reason=repr(error))
        return ()


def _positioned(messages: Sequence[Message], before: Offsets, after: Offsets) -> Iterator[tuple[Message, Offsets]]:
    """Each message of a record with the position to resume from: only the last one is past the record, so a listener
    that disconnects in between gets all of them again."""
    for number, message in enumerate(messages, start=1):
        yield message, after if number == len(messages) else before
