"""Reads given partitions from given offsets, without a consumer group: the caller assigns the partitions."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from lily.brokers import Brokers
from lily.bus.offsets import start_offset
from lily.model.errors import Terminal
from lily.model.records import ConsumedRecord, Partition

TIMEOUT_SECONDS = 15.0
_log = structlog.get_logger()


class PartitionReader:
    """Raises KafkaException while Kafka does not respond, and Terminal if Kafka has deleted the next records."""

    def __init__(self, brokers: Brokers, name: str, topics: Sequence[str]) -> None:
        self._topics = topics
        self._consumer = Consumer(
            {
                **brokers.client(),
                "group.id": name,  # required by librdkafka; no offset is ever committed under it
                "client.id": name,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "fetch.wait.max.ms": 500,
                "fetch.min.bytes": 1,
                "queued.max.messages.kbytes": 32 * 1024,
            }
        )
        self._all: list[Partition] = []
        self._next: dict[Partition, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()

    def partitions(self) -> list[Partition]:
        """All partitions of the topics. They are read once: partitions added later are seen after the next start."""
        if not self._all:
            for topic in self._topics:
                numbers = self._consumer.list_topics(topic, timeout=TIMEOUT_SECONDS).topics[topic].partitions
                self._all += [(topic, number) for number in sorted(numbers)]
        return self._all

    def assign(self, partitions: Sequence[Partition], offsets: Mapping[Partition, int]) -> None:
        """Reads these partitions from now on, each from its offset, or from the beginning if it has none."""
        self._next = {partition: self._start(partition, offsets.get(partition)) for partition in partitions}
        self._consumer.assign([TopicPartition(*partition, offset) for partition, offset in self._next.items()])

    def read(self, limit: int, timeout: float) -> list[ConsumedRecord]:
        """The records that are there; waits for the first one until the timeout."""
        if not self._next:
            return self._idle(timeout)
        first = self._consumer.poll(timeout)
        if first is None:
            return []
        messages = (first, *self._consumer.consume(limit - 1, 0))
        records = [record for message in messages if (record := self._record(message))]
        for topic, partition, offset, _, _ in records:
            self._next[topic, partition] = offset + 1
        return records

    def lag(self) -> int:
        """The number of unread records of the assigned partitions, as of the last fetch."""
        lag = 0
        for partition, offset in self._next.items():
            _, high = self._consumer.get_watermark_offsets(TopicPartition(*partition), cached=True)
            lag += max(high - offset, 0)
        return lag

    def _idle(self, timeout: float) -> list[ConsumedRecord]:
        """Other workers have all partitions: polls so that librdkafka can handle its own events."""
        self._consumer.poll(max(timeout, 0.1))
        return []

    def _start(self, partition: Partition, offset: int | None) -> int:
        low, high = self._consumer.get_watermark_offsets(TopicPartition(*partition), timeout=TIMEOUT_SECONDS)
        return start_offset(partition, low, high, offset)

    @staticmethod
    def _record(message: Message) -> ConsumedRecord | None:
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001 - the library's public constant
                raise Terminal(f"The log no longer holds the next records: {error.str()}. See docs/operations.md.")
            if not error.retriable() and error.fatal():
                raise KafkaException(error)
            _log.warning("log read error", error=error.str())
            return None
        return ConsumedRecord(
            message.topic() or "",
            message.partition() or 0,
            message.offset() or 0,
            message.key() or b"",
            message.value() or b"",
        )
