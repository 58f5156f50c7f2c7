"""A plain consumer: every record of a topic, from the beginning to the end."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition


class Record(NamedTuple):
    key: str
    value: bytes | None
    headers: dict[str, str]


def records(kafka: Mapping[str, Any], topic: str) -> list[Record]:
    """None if there is no such topic."""
    consumer = Consumer({**kafka, "group.id": "t", "enable.partition.eof": True})
    try:
        found = consumer.list_topics(timeout=30).topics
        unread = set(found[topic].partitions) if topic in found else set()
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in unread])
        read = []
        while unread:
            for message in consumer.consume(100, 1.0):
                if (error := message.error()) is None:
                    stated: Any = message.headers() or []
                    headers = {name: value.decode() for name, value in stated}
                    read.append(Record((message.key() or b"").decode(), message.value(), headers))
                else:
                    assert error.code() == KafkaError._PARTITION_EOF, error
                    unread.discard(message.partition())
        return read
    finally:
        consumer.close()
