"""Where a query starts to read the log, and offsets in the JSON form of Spark's Kafka source."""

import json
from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer

from lily.brokers import Brokers
from lily.bus.offsets import Offsets, read_bounds, read_ends, start_offset
from lily.model.records import Partition

TIMEOUT_SECONDS = 15


class LogOffsets:
    """Reads offsets from Kafka. Raises KafkaException if Kafka does not respond."""

    def __init__(self, brokers: Brokers, group: str) -> None:
        self._consumer = Consumer({**brokers.client(), "group.id": group})

    def close(self) -> None:
        self._consumer.close()

    def ends(self, topics: Iterable[str]) -> Offsets:
        """The next offset that each partition will assign."""
        return read_ends(self._consumer, topics, TIMEOUT_SECONDS)

    def starts(self, topics: Iterable[str], reached: Mapping[Partition, int]) -> Offsets:
        """Where a query continues: where it stopped, or at the beginning of a partition that it has never read.

        Raises Terminal if Kafka has deleted the next records: continuing would lose events silently.
        """
        bounds = read_bounds(self._consumer, topics, TIMEOUT_SECONDS)
        return {partition: start_offset(partition, *bounds[partition], reached.get(partition)) for partition in bounds}


def offsets_to_json(offsets: Mapping[Partition, int]) -> str:
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        nested.setdefault(topic, {})[str(partition)] = offset
    return json.dumps(nested)


def offsets_from_json(text: str) -> Offsets:
    nested: dict[str, dict[str, int]] = json.loads(text)
    return {(topic, int(at)): offset for topic, offsets in nested.items() for at, offset in offsets.items()}
