"""One compacted topic: created by Lily, and written with confirmation."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined] # it imports these, and its types do not export them
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from lily.outbound.topics import DURABLE, PATIENCE_SECONDS, create

SECONDS = 60.0  # of one call: a slow broker must not hold up a worker for longer
MAX_MESSAGE = 5 << 20  # 4 MiB and the overhead of the batch
WEEK_MS = 7 * 24 * 3600 * 1000
COMPACTED = {
    "cleanup.policy": "compact",
    "max.message.bytes": str(MAX_MESSAGE),
    "delete.retention.ms": str(WEEK_MS),  # a consumer that was down sees what was withdrawn
}
_DURABLE = DURABLE | {"delivery.timeout.ms": int(SECONDS * 1000), "message.max.bytes": MAX_MESSAGE}


class Record(NamedTuple):
    """`value` None deletes the key."""

    key: str
    value: bytes | None
    headers: Mapping[str, str]


class CompactedTopic:
    """Raises KafkaException, also if the brokers do not respond."""

    def __init__(self, servers: Mapping[str, Any], name: str) -> None:
        self.name = name
        self.servers = dict(servers)

    def ensure(self, partitions: int, replication: int) -> None:
        """Creates it, or sets it to be compacted if a consumer made the brokers create it before."""
        admin = AdminClient(self.servers)
        if self.name in admin.list_topics(timeout=PATIENCE_SECONDS).topics:
            self._compact(admin)
            return
        create(admin, self.name, partitions, replication, COMPACTED)

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
