"""Where the topics of change events end, after the relay has written to them."""

from collections.abc import Collection

from confluent_kafka import Consumer, KafkaException, TopicPartition

from lily.bus import topics
from lily.model.errors import Transient

FOLLOWED = (topics.METADATA, topics.LINEAGE, topics.POLICIES)  # what reactions read
PATIENCE_SECONDS = 10.0


class TopicEnds:
    """Only the relay writes to these topics, so an end stands until it writes again: what is known need not be asked
    for anew. Raises Transient if Kafka does not answer."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "lily-relay-ends", "log_level": 2})
        self._partitions: dict[str, list[int]] = {}
        self._known: dict[str, dict[str, int]] = {}

    def after(self, written: Collection[str]) -> dict[str, dict[str, int]]:
        """`{topic: {partition: next offset}}`, once everything written so far is confirmed."""
        try:
            for topic in FOLLOWED:
                if topic in written or topic not in self._known:
                    self._known[topic] = self._ask(topic)
        except KafkaException as error:
            self._known, self._partitions = {}, {}
            raise Transient(f"Kafka does not tell where its topics end: {error}") from error
        return dict(self._known)

    def close(self) -> None:
        self._consumer.close()

    def _ask(self, topic: str) -> dict[str, int]:
        if topic not in self._partitions:
            self._partitions[topic] = list(
                self._consumer.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions
            )
        return {
            str(at): int(self._consumer.get_watermark_offsets(TopicPartition(topic, at), timeout=PATIENCE_SECONDS)[1])
            for at in self._partitions[topic]
        }
