"""`kafka`: writes notifications to a Kafka topic of the tenant's own."""

from lily.connect.channels.kafka.channel import Kafka, KafkaConfig

__all__ = ["Kafka", "KafkaConfig"]
