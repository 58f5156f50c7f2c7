"""Topics of tenants in the operator's Kafka: how they are created, and how a record in them is made durable."""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from lily.model.errors import Terminal
from lily.plugins.surroundings import Surroundings

PATIENCE_SECONDS = 15.0  # with brokers that do not respond
DURABLE: dict[str, Any] = {
    "enable.idempotence": True,
    "acks": "all",
    "compression.type": "lz4",
    "linger.ms": 5,
    "partitioner": "murmur2_random",
}


def servers(place: Surroundings) -> dict[str, Any]:
    """What a client of the operator's Kafka is configured with. Raises Terminal if there is none."""
    if not place.kafka_bootstrap:
        raise Terminal("there is no Kafka to write to; set LILY_KAFKA_BOOTSTRAP for the worker")
    patience = {"log_level": 2, "socket.timeout.ms": 15_000}
    return {"bootstrap.servers": place.kafka_bootstrap, **patience, **place.kafka_options}


def create(admin: AdminClient, name: str, partitions: int, replication: int, config: Mapping[str, str]) -> None:
    """Does nothing if it is there already. Raises KafkaException."""
    stated = {**config, "min.insync.replicas": str(max(1, replication - 1))}
    created = admin.create_topics([NewTopic(name, partitions, replication, config=stated)])[name]
    try:
        created.result(timeout=PATIENCE_SECONDS)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
