"""Offsets of the log: where its partitions begin and end, and how far behind something is."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer, KafkaException, TopicPartition

from lily.bus.producer import LogUnavailable
from lily.model.errors import Terminal

CACHED_SECONDS = 3.0
PATIENCE_SECONDS = 2.0

Partition = tuple[str, int]  # topic and number
Offsets = dict[Partition, int]  # the next offset


def read_bounds(consumer: Consumer, topics: Iterable[str], patience: float) -> dict[Partition, tuple[int, int]]:
    """The first offset that the log still holds and the next it will give, for every partition of these topics. Raises
    KafkaException if the log does not answer."""
    partitions = [
        TopicPartition(topic, number)
        for topic in topics
        for number in consumer.list_topics(topic, timeout=patience).topics[topic].partitions
    ]
    return {(at.topic, at.partition): consumer.get_watermark_offsets(at, timeout=patience) for at in partitions}


def read_ends(consumer: Consumer, topics: Iterable[str], patience: float) -> Offsets:
    """The next offset of every partition of these topics. Raises KafkaException if the log does not answer."""
    return {partition: high for partition, (_, high) in read_bounds(consumer, topics, patience).items()}


def start_offset(partition: Partition, low: int, high: int, reached: int | None) -> int:
    """Where a reader continues: where it stopped, or at the beginning of a partition that it has never read.

    Raises Terminal if the log no longer holds what comes next: to go on would lose events silently.
    """
    start = low if reached is None else reached
    if not low <= start <= high:
        topic, number = partition
        raise Terminal(
            f"The log no longer holds offset {start} of {topic}/{number} (it has {low} to {high}), so events would be "
            "lost. Restore the log, or see docs/operations.md on how to accept the loss."
        )
    return start


def behind(ends: Offsets, applied: Mapping[Partition, int]) -> dict[str, int]:
    """For each topic, how many events are in the log and not yet applied.

    The two are read one after the other, so what is applied can be ahead of an end that was read before.
    """
    lag: Counter[str] = Counter()
    for (topic, partition), end in ends.items():
        lag[topic] += max(end - applied.get((topic, partition), 0), 0)
    return dict(lag)


class LogEnds:
    """The next offset of every partition of the given topics, cached for a moment. Raises LogUnavailable if the log
    does not answer.

    A failure is cached like an answer: probes that come faster than the log's timeout must not pile up.
    """

    def __init__(self, bootstrap: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "lily-ends", "log_level": 2})
        self._asking = asyncio.Lock()
        self._known: dict[tuple[str, ...], tuple[float, Offsets | None]] = {}

    async def of(self, *topics: str) -> Offsets:
        async with self._asking:
            until, ends = self._known.get(topics, (0.0, None))
            if until < time.monotonic():
                ends = await asyncio.to_thread(self._ask, topics)
                self._known[topics] = (time.monotonic() + CACHED_SECONDS, ends)
        if ends is None:
            raise LogUnavailable("The log does not answer. Try again in a moment.")
        return ends

    async def close(self) -> None:
        await asyncio.to_thread(self._consumer.close)

    def _ask(self, topics: tuple[str, ...]) -> Offsets | None:
        try:
            return read_ends(self._consumer, topics, PATIENCE_SECONDS)
        except KafkaException:
            return None
