"""Where the topics that waiting writes are followed through end, after the relay has written to them."""

from collections.abc import Collection

from confluent_kafka import Consumer, KafkaException

from lily.brokers import Brokers
from lily.bus import topics
from lily.bus.offsets import read_ends
from lily.model.errors import Transient

FOLLOWED = (topics.GOVERNANCE,)
PATIENCE_SECONDS = 10.0


class TopicEnds:
    """Only the relay writes to these topics, so an end stands until it writes again and need not be read before that.
    Raises Transient if Kafka does not answer."""

    def __init__(self, brokers: Brokers) -> None:
        self._consumer = Consumer({**brokers.client(), "group.id": "lily-relay-ends"})
        self._known: dict[str, dict[str, int]] = {}

    def after(self, written: Collection[str]) -> dict[str, dict[str, int]]:
        """`{topic: {partition: next offset}}`, once everything written so far is confirmed."""
        stale = [topic for topic in FOLLOWED if topic in written or topic not in self._known]
        try:
            ends = read_ends(self._consumer, stale, PATIENCE_SECONDS)
        except KafkaException as error:
            self._known = {}
            raise Transient(f"Kafka does not report where its topics end: {error}") from error
        for topic in stale:
            self._known[topic] = {str(number): end for (name, number), end in ends.items() if name == topic}
        return dict(self._known)

    def close(self) -> None:
        self._consumer.close()
