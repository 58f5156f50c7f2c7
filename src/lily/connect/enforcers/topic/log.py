"""One compacted topic: created by Lily, and written with confirmation."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined] # it imports these, and its types do not export them
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic

PATIENCE_SECONDS = 15.0  # with brokers that do not respond
SECONDS = 60.0  # of one call: a slow broker must not hold up a worker for longer
MAX_MESSAGE = 5 << 20  # 4 MiB and the overhead of the batch
WEEK_MS = 7 * 24 * 3600 * 1000
COMPACTED = {
    "cleanup.policy": "compact",
    "max.message.bytes": str(MAX_MESSAGE),
    "delete.retention.ms": str(WEEK_MS),  # a consumer that was down sees what was withdrawn
}
_DURABLE: dict[str, Any] = {
    "enable.idempotence": True,
    "acks": "all",
    "compression.type": "lz4",
    "linger.ms": 5,
    "delivery.timeout.ms": int(SECONDS * 1000),
    "message.max.bytes": MAX_MESSAGE,
    "partitioner": "murmur2_random",
}


class Record(NamedTuple):
    """`value` None deletes the key."""

    key: str
    value: bytes | None
    headers: Mapping[str, str]


class CompactedTopic:
    """Raises KafkaException, also if the brokers do not respond."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.name = name
        self.servers: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 2, "socket.timeout.ms": 15_000}

    def ensure(self, partitions: int, replication: int) -> None:
        """Creates it, or sets it to be compacted if a consumer made the brokers create it before."""
        admin = AdminClient(self.servers)
        if self.name in admin.list_topics(timeout=PATIENCE_SECONDS).topics:
            self._compact(admin)
            return
        config = COMPACTED | {"min.insync.replicas": str(max(1, replication - 1))}
        created = admin.create_topics([NewTopic(self.name, partitions, replication, config=config)])[self.name]
        try:
            created.result(timeout=PATIENCE_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise

    def write(self, records: Sequence[Record]) -> dict[str, str]:
        """By key, why a record was not confirmed by all in-sync replicas; empty if all were."""
        producer = Producer(self.servers | _DURABLE)
        failures = {record.key: "the brokers did not confirm it in time" for record in records}

        def confirm(error: KafkaError | None, message: Message) -> None:
            key = (message.key() or b"").decode()
            if error is None:
                failures.pop(key, None)
            else:
                failures[key] = error.str()

        deadline = time.monotonic() + SECONDS
        for record in records:
            self._produce(producer, record, confirm, deadline)
        producer.flush(max(0.1, deadline - time.monotonic()))
        return failures

    def _compact(self, admin: AdminClient) -> None:
        resource = ConfigResource(ResourceType.TOPIC, self.name)
        stated = admin.describe_configs([resource])[resource].result(timeout=PATIENCE_SECONDS)
        other = {key: value for key, value in COMPACTED.items() if stated[key].value != value}
        if not other:
            return
        changed = ConfigResource(
            ResourceType.TOPIC,
            self.name,
            incremental_configs=[
                ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in other.items()
            ],
        )
        admin.incremental_alter_configs([changed])[changed].result(timeout=PATIENCE_SECONDS)

    def _produce(self, producer: Producer, record: Record, confirm: Any, deadline: float) -> None:
        headers: list[tuple[str, str | bytes | None]] = list(record.headers.items())
        while True:
            try:
                producer.produce(self.name, record.value, record.key.encode(), headers=headers, on_delivery=confirm)
            except BufferError:  # the queue is full until the brokers confirm some
                if time.monotonic() > deadline:
                    return
                producer.poll(0.1)
            else:
                producer.poll(0)
                return
