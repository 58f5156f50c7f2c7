"""Reads topics without a consumer group: from their end for all listeners, or a range of the past for one of them."""

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import structlog
from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from lily.brokers import Brokers
from lily.bus.offsets import Offsets, read_bounds, read_ends
from lily.bus.producer import LogUnavailable
from lily.model.errors import Terminal
from lily.model.records import ConsumedRecord

BATCH_RECORDS = 500
POLL_SECONDS = 0.2
TIMEOUT_SECONDS = 5.0

log = structlog.get_logger()


class PositionLost(Terminal):
    """The log no longer has the requested position. Read the current state, then subscribe from now on."""


class Changefeed:
    """Passes every new record of the topics to `deliver`, one batch at a time. It consumes in a thread of its own, and
    waits there until a batch is delivered.

    While the log is unavailable nothing is delivered; once it is back, reading continues where it stopped.
    """

    def __init__(
        self, brokers: Brokers, topics: Sequence[str], deliver: Callable[[list[ConsumedRecord]], Awaitable[None]]
    ) -> None:
        self._topics = topics
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._running = False
        self._thread = threading.Thread(target=self._read, name="changefeed", daemon=True)
        self._consumer = _consumer(brokers)

    async def start(self) -> Offsets:
        """Starts at the end of the log and returns its offsets. Raises LogUnavailable if the log does not respond."""
        offsets = await asyncio.to_thread(_ends, self._consumer, self._topics)
        self._consumer.assign([TopicPartition(*at, offset) for at, offset in offsets.items()])
        self._running = True
        self._thread.start()
        return offsets

    async def stop(self) -> None:
        if self._running:
            self._running = False
            await asyncio.to_thread(self._thread.join)
        self._consumer.close()

    def _read(self) -> None:
        while self._running:
            batch = _records(self._consumer.consume(BATCH_RECORDS, POLL_SECONDS))
            if batch and self._running:
                self._hand_over(batch)

    def _hand_over(self, batch: list[ConsumedRecord]) -> None:
        delivered = threading.Event()

        async def deliver() -> None:
            try:
                await self._deliver(batch)
            finally:
                delivered.set()

        asyncio.run_coroutine_threadsafe(deliver(), self._loop)
        while self._running and not delivered.wait(POLL_SECONDS):
            """The event loop is busy. A stop must not wait for it, because the loop itself calls `stop`."""


async def replay(brokers: Brokers, begin: Offsets, end: Offsets) -> AsyncIterator[list[ConsumedRecord]]:
    """The records between two sets of offsets. Raises PositionLost if Kafka has deleted some of them."""
    consumer = _consumer(brokers)
    try:
        left = {at: offset for at, offset in end.items() if offset > begin.get(at, 0)}
        await asyncio.to_thread(_require_available, consumer, {at: begin.get(at, 0) for at in left})
        consumer.assign([TopicPartition(*at, begin.get(at, 0)) for at in left])
        while left:
            batch = _records(await asyncio.to_thread(consumer.consume, BATCH_RECORDS, POLL_SECONDS))
            yield [record for record in batch if record.offset < left.get((record.topic, record.partition), 0)]
            positions = consumer.position([TopicPartition(*at) for at in left])
            reached = {(at.topic, at.partition): at.offset for at in positions}
            left = {at: offset for at, offset in left.items() if reached[at] < offset}
    finally:
        consumer.close()


def _consumer(brokers: Brokers) -> Consumer:
    return Consumer(
        {
            **brokers.client(),
            "group.id": f"lily-feed-{uuid.uuid4()}",  # required by librdkafka; no offset is ever committed under it
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 100,
            "queued.max.messages.kbytes": 8 * 1024,
        }
    )


def _ends(consumer: Consumer, topics: Sequence[str]) -> Offsets:
    try:
        return read_ends(consumer, topics, TIMEOUT_SECONDS)
    except KafkaException as error:
        raise LogUnavailable("The change log does not respond. Try again in a moment.") from error


def _require_available(consumer: Consumer, begin: Offsets) -> None:
    try:
        bounds = read_bounds(consumer, {topic for topic, _ in begin}, TIMEOUT_SECONDS)
    except KafkaException as error:
        raise LogUnavailable("The change log does not respond. Try again in a moment.") from error
    if any(offset < bounds[at][0] for at, offset in begin.items()):
        raise PositionLost("The log no longer has this position. Read the current state, then subscribe from now on.")


def _records(messages: list[Message]) -> list[ConsumedRecord]:
    records = []
    for message in messages:
        error = message.error()
        if error is not None:
            log.warning("changefeed.error", reason=error.str())
        else:
            topic, at, offset = message.topic() or "", message.partition() or 0, message.offset() or 0
            records.append(ConsumedRecord(topic, at, offset, message.key() or b"", message.value() or b""))
    return records
