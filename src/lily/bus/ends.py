"""Where the log ends: asked for lag and readiness, answered from a short memory."""

import asyncio
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

from lily.bus.producer import LogUnavailable

REMEMBERED_SECONDS = 3.0
PATIENCE_SECONDS = 2.0


Ends = dict[tuple[str, int], int]


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
            return {(topic, at): self._end(topic, at) for topic in topics for at in self._partitions(topic)}
        except KafkaException:
            return None

    def _partitions(self, topic: str) -> list[int]:
        return list(self._consumer.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions)

    def _end(self, topic: str, partition: int) -> int:
        offsets = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=PATIENCE_SECONDS)
        return int(offsets[1])
