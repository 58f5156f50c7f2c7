"""Appends to the log durably: a confirmed record has been written by every in-sync replica."""

import asyncio
import time
from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lily.brokers import Brokers
from lily.model.errors import Problem, Refused, Transient
from lily.model.records import Position

QUEUE_MESSAGES = 20_000  # unconfirmed at once; beyond that writes are refused with LogFull, so memory stays bounded
QUEUE_KBYTES = 64 * 1024
DELIVERY_SECONDS = 20
MAX_RECORD = 4 << 20
POLL_SECONDS, IDLE_SECONDS = 0.002, 0.1  # between looks at what the log has confirmed


class LogFull(Transient):
    """Too many records are unconfirmed. Try again in a moment."""


class LogUnavailable(Transient):
    """The log did not confirm in time. The event may or may not be in it; sending it again is harmless."""


class LogProducer:
    """An idempotent producer for asyncio: `append` queues records at once and returns a future of their positions.

    Raises LogFull if too many are unconfirmed, Refused for a record that is too large: nothing of it, or of the records
    after it, is in the log. The future fails with LogUnavailable if the log does not confirm.

    Confirmations are taken by the event loop itself: a thread would have to get the interpreter's lock for each record,
    and to wake the loop.
    """

    def __init__(self, brokers: Brokers) -> None:
        self._options = {
            **brokers.client(),
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 3,
            "compression.type": "lz4",
            "queue.buffering.max.messages": QUEUE_MESSAGES,
            "queue.buffering.max.kbytes": QUEUE_KBYTES,
            "delivery.timeout.ms": DELIVERY_SECONDS * 1000,
            "message.max.bytes": MAX_RECORD,
            "partitioner": "murmur2_random",
        }
        self._producer = Producer(self._options)
        self._loop = asyncio.get_running_loop()
        self._poller = self._loop.call_later(IDLE_SECONDS, self._poll)
        self._is_polling = False  # in short intervals

    def append(self, records: Sequence[tuple[str, bytes, bytes]]) -> asyncio.Future[list[Position]]:
        """Appends records of topic, key and value. One future serves all of them, because waking the event loop for a
        record costs as much as sending it. If it raises, some may be in the log; sending all again is harmless."""
        if len(self._producer) + len(records) > QUEUE_MESSAGES:
            raise LogFull("The queue to the log is full. Nothing was stored; try again in a moment.")
        delivery = _Delivery(self._loop, len(records))
        for topic, key, value in records:
            try:
                self._producer.produce(topic, value, key, on_delivery=delivery.confirm)
            except BufferError as error:
                raise LogFull("The queue to the log is full. Try again in a moment.") from error
            except KafkaException as error:
                self._replace_if_fatal(error.args[0])
                if error.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
                    raise Refused(_too_large(value)) from error
                raise LogUnavailable(f"The log refused the event ({error.args[0].name()}). Try again.") from error
        if not self._is_polling:
            self._poller.cancel()
            self._poll()
        return delivery.future

    def __len__(self) -> int:
        """The number of queued records that are not confirmed yet."""
        return len(self._producer)

    async def close(self) -> None:
        deadline = time.monotonic() + DELIVERY_SECONDS
        while len(self._producer) and time.monotonic() < deadline:
            await asyncio.sleep(POLL_SECONDS)
            self._producer.poll(0)
        self._poller.cancel()

    def _replace_if_fatal(self, error: KafkaError) -> None:
        """After a fatal error, such as lost sequence numbers, a producer cannot be used again: replaces it."""
        if error.fatal():
            self._producer = Producer(self._options)

    def _poll(self) -> None:
        try:
            self._producer.poll(0)
        finally:
            self._is_polling = len(self._producer) > 0
            self._poller = self._loop.call_later(POLL_SECONDS if self._is_polling else IDLE_SECONDS, self._poll)


def _too_large(value: bytes) -> Problem:
    described = f"the event takes {len(value):,} bytes in the log, which takes {MAX_RECORD:,}; state less at a time"
    return Problem("TOO_LARGE", described, "body")


class _Delivery:
    """Counts the confirmations of records that were appended together."""

    def __init__(self, loop: asyncio.AbstractEventLoop, records: int) -> None:
        self.future: asyncio.Future[list[Position]] = loop.create_future()
        self._unconfirmed = records
        self._positions: list[Position] = []
        self._failed: KafkaError | None = None
        if not records:
            self.future.set_result([])

    def confirm(self, error: KafkaError | None, message: Message) -> None:
        self._unconfirmed -= 1
        if error is not None:
            self._failed = error
        else:
            self._positions.append(Position(message.topic() or "", message.partition() or 0, message.offset() or 0))
        if not self._unconfirmed:
            self._finish()

    def _finish(self) -> None:
        if self.future.done():
            return
        if self._failed is not None:
            why = f"The log did not confirm the events in time ({self._failed.name()}). Try again."
            self.future.set_exception(LogUnavailable(why))
        else:
            self.future.set_result(self._positions)
