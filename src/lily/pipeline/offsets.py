"""Where the log begins and ends, and from where a query may go on."""

from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer, TopicPartition

from lily.model.errors import Terminal

PATIENCE_SECONDS = 15

Offsets = dict[tuple[str, int], int]


class LogOffsets:
    """Asks Kafka. Raises KafkaException if it does not answer."""

    def __init__(self, bootstrap: str, group: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "log_level": 2})

    def close(self) -> None:
        self._consumer.close()

    def ends(self, topics: Iterable[str]) -> Offsets:
        """The next offset that the log will give, by topic and partition."""
        return {at: high for at, (_, high) in self._watermarks(topics).items()}

    def starts(self, topics: Iterable[str], reached: Mapping[tuple[str, int], int]) -> Offsets:
        """Where a query goes on: where it stopped, or at the beginning of a partition it has never read.

        Raises Terminal if the log no longer holds what comes next: going on would lose events without a word.
        """
        return {at: _start(at, low, high, reached.get(at)) for at, (low, high) in self._watermarks(topics).items()}

    def _watermarks(self, topics: Iterable[str]) -> dict[tuple[str, int], tuple[int, int]]:
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for topic in topics:
            for at in self._consumer.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions:
                low, high = self._consumer.get_watermark_offsets(TopicPartition(topic, at), timeout=PATIENCE_SECONDS)
                found[topic, at] = (low, high)
        return found


def _start(at: tuple[str, int], low: int, high: int, reached: int | None) -> int:
    start = low if reached is None else reached
    if not low <= start <= high:
        topic, partition = at
        raise Terminal(
            f"The log no longer holds offset {start} of {topic}/{partition} (it has {low} to {high}), so events would "
            "be lost. Restore the log, or see docs/operations.md on how to accept the loss."
        )
    return start
