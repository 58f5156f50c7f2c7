"""Appends to the log, durably: a delivery that is confirmed has been taken by every in-sync replica."""

import asyncio
import threading
from collections.abc import Sequence
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lily.model.errors import Transient

QUEUE_MESSAGES = 20_000  # in flight at once; past that a door says "later" instead of growing
QUEUE_KBYTES = 64 * 1024
DELIVERY_SECONDS = 20


class Position(NamedTuple):
    """Where in the log an event stands."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.offset}"


class LogFull(Transient):
    """The log takes no more right now; nothing was appended. Try again in a moment."""


class LogUnavailable(Transient):
    """The log did not confirm in time. The event may or may not be in it; repeating it is harmless."""


class LogProducer:
    """An idempotent producer for asyncio: `append` hands over at once and returns a future of the positions.

    Raises LogFull when too much is unconfirmed. The future fails with LogUnavailable when the log did not answer.
    """

    def __init__(self, bootstrap: str) -> None:
        self._options = {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 3,
            "compression.type": "lz4",
            "queue.buffering.max.messages": QUEUE_MESSAGES,
            "queue.buffering.max.kbytes": QUEUE_KBYTES,
            "delivery.timeout.ms": DELIVERY_SECONDS * 1000,
            "message.max.bytes": 4 << 20,
            "partitioner": "murmur2_random",
            "log_level": 2,
        }
        self._producer = Producer(self._options)
        self._loop = asyncio.get_running_loop()
        self._running = True
        self._poller = threading.Thread(target=self._poll, name="log-deliveries", daemon=True)
        self._poller.start()

    def append(self, records: Sequence[tuple[str, bytes, bytes]]) -> asyncio.Future[list[Position]]:
        """Topic, key and value of each. One future for all of them: waking the loop for each costs as much as sending
        it. If it raises, some may be in the log, and repeating them all is harmless."""
        if len(self._producer) + len(records) > QUEUE_MESSAGES:
            raise LogFull("The log takes no more right now. Nothing was stored; try again in a moment.")
        delivery = _Delivery(self._loop, len(records))
        for topic, key, value in records:
            try:
                self._producer.produce(topic, value, key, on_delivery=delivery.settle)
            except BufferError as error:
                raise LogFull("The log takes no more right now. Try again in a moment.") from error
            except KafkaException as error:
                self._replace_if_fatal(error.args[0])
                raise LogUnavailable(f"The log refused the event ({error.args[0].name()}). Try again.") from error
        return delivery.future

    def __len__(self) -> int:
        """How many events are handed over and not yet confirmed."""
        return len(self._producer)

    async def close(self) -> None:
        await asyncio.to_thread(self._producer.flush, DELIVERY_SECONDS)
        self._running = False
        await asyncio.to_thread(self._poller.join)

    def _replace_if_fatal(self, error: KafkaError) -> None:
        """A fatal error (the broker forgot this producer's sequence) ends a producer for good; a new one goes on."""
        if error.fatal():
            self._producer = Producer(self._options)

    def _poll(self) -> None:
        while self._running:
            self._producer.poll(0.1)


class _Delivery:
    """Counts the confirmations of records that were appended together. Only the poller's thread calls `settle`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, records: int) -> None:
        self.future: asyncio.Future[list[Position]] = loop.create_future()
        self._loop = loop
        self._awaited = records
        self._positions: list[Position] = []
        self._failed: KafkaError | None = None
        if not records:
            self.future.set_result([])

    def settle(self, error: KafkaError | None, message: Message) -> None:
        self._awaited -= 1
        if error is not None:
            self._failed = error
        else:
            self._positions.append(Position(message.topic() or "", message.partition() or 0, message.offset() or 0))
        if not self._awaited:
            self._loop.call_soon_threadsafe(self._finish)

    def _finish(self) -> None:
        if self.future.done():
            return
        if self._failed is not None:
            why = f"The log did not confirm the events in time ({self._failed.name()}). Try again."
            self.future.set_exception(LogUnavailable(why))
        else:
            self.future.set_result(self._positions)
