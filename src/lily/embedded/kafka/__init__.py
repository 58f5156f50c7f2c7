"""The embedded Kafka: one node, its users, and what each of them may do."""

from lily.embedded.kafka.broker import Kafka, KafkaUnusable

__all__ = ["Kafka", "KafkaUnusable"]
