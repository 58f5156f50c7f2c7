"""Offsets of the log: where its partitions begin and end, and the lag of a reader."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer, KafkaException, TopicPartition

from lily.brokers import Brokers
from lily.bus.producer import LogUnavailable
from lily.model.errors import Terminal
from lily.model.records import Partition

CACHED_SECONDS = 3.0
TIMEOUT_SECONDS = 2.0

Offsets = dict[Partition, int]  # the next offset


def read_bounds(consumer: Consumer, topics: Iterable[str], timeout: float) -> dict[Partition, tuple[int, int]]:
    """The first offset that the log still has and the next that it will assign, for every partition of the topics.
    Raises KafkaException if Kafka does not respond."""
    partitions = [
        TopicPartition(topic, number)
        for topic in topics
        for number in consumer.list_topics(topic, timeout=timeout).topics[topic].partitions
    ]
    return {(at.topic, at.partition): consumer.get_watermark_offsets(at, timeout=timeout) for at in partitions}


def read_ends(consumer: Consumer, topics: Iterable[str], timeout: float) -> Offsets:
    """The next offset of every partition of the topics. Raises KafkaException if Kafka does not respond."""
    return {partition: high for partition, (_, high) in read_bounds(consumer, topics, timeout).items()}


def start_offset(partition: Partition, low: int, high: int, reached: int | None) -> int:
    """Where a reader continues: where it stopped, or at the beginning of a partition that it has never read.

    Raises Terminal if Kafka has deleted the next records: continuing would lose events silently.
    """
    start = low if reached is None else reached
    if not low <= start <= high:
        topic, number = partition
        raise Terminal(
            f"The log no longer holds offset {start} of {topic}/{number} (it has {low} to {high}), so events would be "
            "lost. Restore the log, or see docs/operations.md on how to accept the loss."
        )
    return start


def lag_by_topic(ends: Offsets, applied: Mapping[Partition, int]) -> dict[str, int]:
    """The number of records per topic that are in the log and not applied yet.

    The two are read one after the other, so an applied offset can be ahead of an end that was read before.
    """
    lag: Counter[str] = Counter()
    for (topic, partition), end in ends.items():
        lag[topic] += max(end - applied.get((topic, partition), 0), 0)
    return dict(lag)


class LogEnds:
    """The next offset of every partition of the given topics, cached for a moment. Raises LogUnavailable if the log
    does not respond.

    A failure is cached too: health probes that come faster than the timeout must not pile up.
    """

    def __init__(self, brokers: Brokers) -> None:
        self._consumer = Consumer({**brokers.client(), "group.id": "lily-ends"})
        self._lock = asyncio.Lock()
        self._cached: dict[tuple[str, ...], tuple[float, Offsets | None]] = {}

    async def of(self, *topics: str) -> Offsets:
        async with self._lock:
            until, ends = self._cached.get(topics, (0.0, None))
            if until < time.monotonic():
                ends = await asyncio.to_thread(self._read, topics)
                self._cached[topics] = (time.monotonic() + CACHED_SECONDS, ends)
        if ends is None:
            raise LogUnavailable("The log does not respond. Try again in a moment.")
        return ends

    async def close(self) -> None:
        await asyncio.to_thread(self._consumer.close)

    def _read(self, topics: tuple[str, ...]) -> Offsets | None:
        try:
            return read_ends(self._consumer, topics, TIMEOUT_SECONDS)
        except KafkaException:
            return None
