"""Where the log ends: asked for lag and readiness, answered from a short memory."""

import asyncio
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

from lily.bus.producer import LogUnavailable

REMEMBERED_SECONDS = 3.0
PATIENCE_SECONDS = 2.0


class LogEnds:
    """The next offset of every partition of the topics asked for. Raises LogUnavailable if the log does not answer."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "lily-ends", "log_level": 2})
        self._asking = asyncio.Lock()
        self._ends: dict[tuple[str, ...], tuple[float, dict[tuple[str, int], int]]] = {}

    async def of(self, *topics: str) -> dict[tuple[str, int], int]:
        async with self._asking:
            known = self._ends.get(topics)
            if known is None or known[0] < time.monotonic():
                ends = await asyncio.to_thread(self._ask, topics)
                known = self._ends[topics] = (time.monotonic() + REMEMBERED_SECONDS, ends)
            return known[1]

    async def close(self) -> None:
        await asyncio.to_thread(self._consumer.close)

    def _ask(self, topics: tuple[str, ...]) -> dict[tuple[str, int], int]:
        try:
            return {
                (topic, partition): self._consumer.get_watermark_offsets(
                    TopicPartition(topic, partition), timeout=PATIENCE_SECONDS
                )[1]
                for topic in topics
                for partition in self._consumer.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions
            }
        except KafkaException as error:
            raise LogUnavailable("The log does not answer. Try again in a moment.") from error
