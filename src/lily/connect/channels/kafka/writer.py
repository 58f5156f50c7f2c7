"""Records in topics of the operator's Kafka, each confirmed by all in-sync replicas."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from lily.model.errors import Terminal
from lily.outbound.topics import DURABLE, PATIENCE_SECONDS, create

MAX_MESSAGE = 1 << 20  # which brokers accept by default
MAX_PARTITIONS = 200  # of all topics that one tenant makes Lily create: brokers bear a limited number
POLL_SECONDS = 0.1
LINGER_MS = 1  # a job waits for its records, of which few are under way at a time: a longer linger would set its pace
_LASTING = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.INVALID_REPLICATION_FACTOR,
        KafkaError.POLICY_VIOLATION,
    }
)


class Record(NamedTuple):
    topic: str
    key: str
    value: bytes
    headers: Mapping[str, str]


class Writer:
    """Raises KafkaException. Safe to use from several threads."""

    def __init__(self, servers: Mapping[str, Any], seconds: float) -> None:
        self._servers = dict(servers)
        limits = {"delivery.timeout.ms": int(seconds * 1000), "message.max.bytes": MAX_MESSAGE}
        self._producer = Producer(self._servers | DURABLE | limits | {"linger.ms": LINGER_MS})
        self._known: set[str] = set()
        self._closed = threading.Event()
        self._polling = threading.Thread(target=self._poll, name="kafka-channel", daemon=True)
        self._polling.start()

    def knows(self, topic: str) -> bool:
        return topic in self._known

    def ensure(self, topic: str, partitions: int, replication: int, beginning: str) -> None:
        """`beginning` is that of the tenant's topics. Raises Terminal if they would have too many partitions."""
        admin = AdminClient(self._servers)
        known = admin.list_topics(timeout=PATIENCE_SECONDS).topics
        if topic not in known:
            used = sum(len(one.partitions) for name, one in known.items() if name.startswith(beginning))
            if used + partitions > MAX_PARTITIONS:
                raise Terminal(
                    f"the tenant's topics have {used} of at most {MAX_PARTITIONS} partitions, and {topic} needs "
                    f"{partitions} more. Use a destination that there is, or let the operator delete topics."
                )
            create(admin, topic, partitions, replication, {})
        self._known.add(topic)

    def reach(self) -> None:
        AdminClient(self._servers).list_topics(timeout=PATIENCE_SECONDS)

    def write(self, record: Record) -> "Future[str]":
        """Where the record is, once it is confirmed: `topic-partition@offset`."""
        written: Future[str] = Future()
        written.set_running_or_notify_cancel()  # a record that was handed over cannot be taken back

        def confirm(error: KafkaError | None, message: Message) -> None:
            if error is None:
                written.set_result(f"{message.topic()}-{message.partition()}@{message.offset()}")
            else:
                written.set_exception(KafkaException(error))

        headers: list[tuple[str, str | bytes | None]] = list(record.headers.items())
        key = record.key.encode()
        self._producer.produce(record.topic, record.value, key, headers=headers, on_delivery=confirm)
        return written

    def close(self) -> None:
        """Deliveries that Kafka has not confirmed fail, and their callers get an error."""
        self._producer.flush(POLL_SECONDS)
        self._producer.purge()
        self._producer.flush(PATIENCE_SECONDS)
        self._closed.set()
        self._polling.join()

    def _poll(self) -> None:
        while not self._closed.is_set():
            self._producer.poll(POLL_SECONDS)


def is_passing(error: KafkaException) -> bool:
    """Whether the same record may be accepted later."""
    return error.args[0].code() not in _LASTING


def is_fatal(error: KafkaException) -> bool:
    """Whether the producer can write nothing more."""
    return bool(error.args[0].fatal())
