"""Reads given partitions from given offsets, without a consumer group: who reads what is decided elsewhere."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from lily.bus.offsets import Partition, start_offset
from lily.model.errors import Terminal

Row = tuple[str, int, int, bytes, bytes]  # topic, partition, offset, key, value

PATIENCE_SECONDS = 15.0
_log = structlog.get_logger()


class PartitionReader:
    """Raises KafkaException while Kafka does not answer, and Terminal if the log no longer holds what comes next."""

    def __init__(self, bootstrap: str, name: str, topics: Sequence[str]) -> None:
        self._topics = topics
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": name,  # librdkafka asks for one; nothing is ever committed under it
                "client.id": name,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "fetch.wait.max.ms": 500,
                "fetch.min.bytes": 1,
                "queued.max.messages.kbytes": 32 * 1024,
                "log_level": 2,
            }
        )
        self._known: list[Partition] = []
        self._next: dict[Partition, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()

    def partitions(self) -> list[Partition]:
        """All partitions of the topics; asked for once, so added ones are read after the next start."""
        if not self._known:
            for topic in self._topics:
                found = self._consumer.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions
                self._known += [(topic, number) for number in sorted(found)]
        return self._known

    def assign(self, partitions: Sequence[Partition], offsets: Mapping[Partition, int]) -> None:
        """Reads these partitions from now on: from the given offset, or from the beginning of one never read."""
        self._next = {partition: self._start(partition, offsets.get(partition)) for partition in partitions}
        self._consumer.assign([TopicPartition(*partition, offset) for partition, offset in self._next.items()])

    def read(self, limit: int, patience: float) -> list[Row]:
        """What is there, waiting for the first record at most so long; empty if nothing came."""
        if not self._next:
            return self._rest(patience)
        first = self._consumer.poll(patience)
        if first is None:
            return []
        rows = [row for message in (first, *self._consumer.consume(limit - 1, 0)) if (row := self._row(message))]
        for topic, partition, offset, _, _ in rows:
            self._next[topic, partition] = offset + 1
        return rows

    def lag(self) -> int:
        """Records of the assigned partitions that were not read yet, as of the last fetch."""
        behind = 0
        for partition, offset in self._next.items():
            _, high = self._consumer.get_watermark_offsets(TopicPartition(*partition), cached=True)
            behind += max(high - offset, 0)
        return behind

    def _rest(self, patience: float) -> list[Row]:
        """Other workers have all partitions: serve librdkafka's events meanwhile."""
        self._consumer.poll(max(patience, 0.1))
        return []

    def _start(self, partition: Partition, offset: int | None) -> int:
        low, high = self._consumer.get_watermark_offsets(TopicPartition(*partition), timeout=PATIENCE_SECONDS)
        return start_offset(partition, low, high, offset)

    @staticmethod
    def _row(message: Message) -> Row | None:
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001 - the library's public constant
                raise Terminal(f"The log no longer holds what comes next: {error.str()}. See docs/operations.md.")
            if not error.retriable() and error.fatal():
                raise KafkaException(error)
            _log.warning("log read error", error=error.str())
            return None
        return (
            message.topic() or "",
            message.partition() or 0,
            message.offset() or 0,
            message.key() or b"",
            message.value() or b"",
        )
