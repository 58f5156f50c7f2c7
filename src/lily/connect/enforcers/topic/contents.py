"""What a compacted topic contains: its keys, read from the beginning to the end."""

import time
import uuid
from collections.abc import Mapping
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

PATIENCE_SECONDS = 15.0  # with brokers that do not respond
SECONDS = 60.0


class TooSlow(Exception):
    """The topic could not be read to its end in time."""


def live_keys(servers: Mapping[str, Any], topic: str) -> list[str]:
    """The keys whose newest record is not a tombstone; none if there is no such topic. Raises KafkaException and
    TooSlow."""
    consumer = Consumer(
        {
            **servers,
            "group.id": f"lily-{uuid.uuid4()}",  # required by librdkafka; no offset is ever committed under it
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "allow.auto.create.topics": False,
        }
    )
    try:
        found = consumer.list_topics(timeout=PATIENCE_SECONDS).topics
        numbers = set(found[topic].partitions) if topic in found else set()
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers])
        return _read(consumer, numbers)
    finally:
        consumer.close()


def _read(consumer: Consumer, unread: set[int]) -> list[str]:
    live: dict[str, None] = {}
    deadline = time.monotonic() + SECONDS
    while unread:
        for message in consumer.consume(1_000, 1.0):
            _note(message, live, unread)
        if time.monotonic() > deadline:
            raise TooSlow(f"the topic was not read to its end within {SECONDS:.0f} seconds")
    return list(live)


def _note(message: Message, live: dict[str, None], unread: set[int]) -> None:
    error = message.error()
    if error is not None:
        if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the library's name
            raise KafkaException(error)
        unread.discard(message.partition() or 0)
        return
    key = (message.key() or b"").decode()
    if message.value() is None:
        live.pop(key, None)
    else:
        live[key] = None
