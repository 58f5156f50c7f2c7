"""Where the log ends: asked for lag and readiness, answered from a short memory."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer, KafkaException, TopicPartition

from lily.bus.producer import LogUnavailable

REMEMBERED_SECONDS = 3.0
PATIENCE_SECONDS = 2.0

Ends = dict[tuple[str, int], int]


def read_ends(consumer: Consumer, topics: Iterable[str], patience: float) -> Ends:
    """The next offset of every partition of these topics. Raises KafkaException if the log does not answer."""
    partitions = [
        TopicPartition(topic, partition)
        for topic in topics
        for partition in consumer.list_topics(topic, timeout=patience).topics[topic].partitions
    ]
    return {(at.topic, at.partition): int(consumer.get_watermark_offsets(at, timeout=patience)[1]) for at in partitions}


def behind(ends: Ends, applied: Mapping[tuple[str, int], int]) -> dict[str, int]:
    """For each topic, how many events are in the log and not yet applied.

    The two are read one after the other, so what is applied can be ahead of an end that was read before.
    """
    lag: Counter[str] = Counter()
    for (topic, partition), end in ends.items():
        lag[topic] += max(end - applied.get((topic, partition), 0), 0)
    return dict(lag)


class LogEnds:
    """The next offset of every partition of the topics asked for. Raises LogUnavailable if the log does not answer.

    A failure is remembered like an answer: probes that come faster than the log's silence ends must not pile up.
    """

    def __init__(self, bootstrap: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "lily-ends", "log_level": 2})
        self._asking = asyncio.Lock()
        self._known: dict[tuple[str, ...], tuple[float, Ends | None]] = {}

    async def of(self, *topics: str) -> Ends:
        async with self._asking:
            until, ends = self._known.get(topics, (0.0, None))
            if until < time.monotonic():
                ends = await asyncio.to_thread(self._ask, topics)
                self._known[topics] = (time.monotonic() + REMEMBERED_SECONDS, ends)
        if ends is None:
            raise LogUnavailable("The log does not answer. Try again in a moment.")
        return ends

    async def close(self) -> None:
        await asyncio.to_thread(self._consumer.close)

    def _ask(self, topics: tuple[str, ...]) -> Ends | None:
        try:
            return read_ends(self._consumer, topics, PATIENCE_SECONDS)
        except KafkaException:
            return None
