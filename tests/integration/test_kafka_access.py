"""The embedded Kafka: without a password nothing, and with that of a part what this part needs."""

import socket
import stat
import struct
import time
import uuid

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined] # it imports these, and its types do not export them
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from lily.brokers import Brokers
from lily.bus import topics
from lily.embedded.kafka.access import ensure_access, found_permissions, permissions
from lily.embedded.kafka.users import BROKER, USER_OF, brokers_of, security_of
from lily.embedded.probes import kafka_responds
from lily.embedded.state import load
from tests.shared_stack import Stack

UNAUTHENTICATED_METADATA = struct.pack(">ihhihi", 14, 3, 1, 1, -1, 0)


def brokers(stack: Stack, part: str) -> Brokers:
    return brokers_of(load(stack.data_dir), USER_OF[part])


def written(client: Brokers, topic: str) -> KafkaError | None:
    """The error with which the broker refused the record; None if it took it."""
    found: list[KafkaError | None] = []

    def confirm(error: KafkaError | None, _: Message) -> None:
        found.append(error)

    producer = Producer(client.client())
    producer.produce(topic, b"{}", partition=0, on_delivery=confirm)
    assert producer.flush(30) == 0
    return found[0]


def read_error(client: Brokers, topic: str) -> KafkaError | None:
    """The error with which the broker refused to serve the topic; None if it served it."""
    consumer = Consumer({**client.client(), "group.id": f"lily-{uuid.uuid4()}", "enable.partition.eof": True})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        message = consumer.poll(30)
        assert message is not None, "the broker did not respond"
        error = message.error()
        return None if error is None or error.code() == KafkaError._PARTITION_EOF else error
    finally:
        consumer.close()


@pytest.mark.parametrize("listener", ["kafka", "controller"])
def test_a_connection_that_does_not_log_in_gets_no_response(stack: Stack, listener: str) -> None:
    port = load(stack.data_dir).ports[listener]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(UNAUTHENTICATED_METADATA)
        assert connection.recv(1) == b""  # closed


def test_a_wrong_password_is_refused(stack: Stack) -> None:
    state, errors = load(stack.data_dir), list[KafkaError]()
    wrong = Brokers(state.kafka, security_of("lily_api", "guessed"))
    producer = Producer({**wrong.client(), "error_cb": errors.append})
    deadline = time.monotonic() + 60
    while not any(error.code() == KafkaError._AUTHENTICATION for error in errors):
        assert time.monotonic() < deadline, errors
        producer.poll(0.1)
    with pytest.raises(KafkaException):
        producer.list_topics(timeout=2)
    assert not kafka_responds(state.ports["kafka"], BROKER, "guessed")
    assert kafka_responds(state.ports["kafka"], BROKER, state.kafka_passwords[BROKER])


@pytest.mark.parametrize(
    ("part", "topic"),
    [("api", topics.METADATA), ("api", topics.POLICIES), ("pipeline", topics.METADATA), ("worker", topics.USAGE)],
)
def test_a_part_may_not_write_what_is_not_its_own(stack: Stack, part: str, topic: str) -> None:
    error = written(brokers(stack, part), topic)
    assert error is not None
    assert error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_a_part_may_not_read_what_it_does_not_need(stack: Stack) -> None:
    for part in ("api", "worker"):
        error = read_error(brokers(stack, part), topics.ASSETS)
        assert error is not None, part
        assert error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert read_error(brokers(stack, "api"), topics.METADATA) is None


def test_what_an_earlier_version_permitted_is_withdrawn(stack: Stack) -> None:
    state, admin = load(stack.data_dir), AdminClient(stack.kafka.client)
    topic = f"old-{uuid.uuid4()}"
    extra = AclBinding(
        ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:lily_api", "*",
        AclOperation.ALL, AclPermissionType.ALLOW,
    )  # fmt: skip
    admin.create_acls([extra])[extra].result(30)
    ensure_access(brokers_of(state, BROKER), state.kafka_passwords)
    deadline = time.monotonic() + 60
    while found_permissions(admin) != permissions():  # the broker follows the controller
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_only_the_owner_may_read_the_passwords(stack: Stack) -> None:
    state = load(stack.data_dir)
    for path in (stack.data_dir / "stack.json", stack.data_dir / "kafka" / "server.properties"):
        assert state.kafka_passwords[BROKER] in path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not (stack.data_dir / "kafka" / "format.properties").exists()


def test_a_topic_that_a_part_neither_reads_nor_writes_does_not_exist_for_it(stack: Stack) -> None:
    seen = AdminClient(brokers(stack, "pipeline").client()).list_topics(timeout=30).topics
    assert set(seen) == set(topics.INTAKE)
