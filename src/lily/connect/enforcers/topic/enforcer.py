"""The plug-in: a plan is the messages about changed tables, applying it is writing them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from confluent_kafka import KafkaException
from pydantic import Field

from lily.connect.enforcers.messages import WITHDRAWN, Message, messages
from lily.connect.enforcers.messaging import Messaging
from lily.connect.enforcers.topic.contents import TooSlow, live_keys
from lily.connect.enforcers.topic.log import CompactedTopic, Record
from lily.connect.enforcers.topic.names import topic_name
from lily.connect.signing import SigningConfig
from lily.model.errors import Transient
from lily.outbound.topics import servers
from lily.plugins import Failure, Plan


class TopicConfig(SigningConfig):
    partitions: int = Field(1, ge=1, le=64, description="of the topic, when Lily creates it")


class Topic(Messaging):
    Config = TopicConfig

    def __init__(self, config: TopicConfig) -> None:
        super().__init__(config)
        self._partitions = config.partitions

    def apply(self, plan: Plan) -> Sequence[Failure]:
        """Writes the messages. Confirmed by all in-sync replicas."""
        listed = list(messages(plan.steps))
        failures = [Failure(one.table, one.problem, transient=False) for one in listed if one.problem]
        records = {one.key: one for one in listed if not one.problem}
        with self._reachable() as topic:
            topic.ensure(self._partitions, self.place.kafka_replication)
            failed = topic.write([self._record(one) for one in records.values()])
        return failures + [Failure(records[key].table, error, transient=True) for key, error in failed.items()]

    def remove(self) -> None:
        """Deletes every message with a tombstone. The topic stays, because consumers may still have to read them."""
        with self._reachable() as topic:
            keys = live_keys(topic.servers, topic.name)
            failed = topic.write([Record(key, None, {}) for key in keys]) if keys else {}
        if failed:
            key, error = next(iter(failed.items()))
            raise Transient(f"{len(failed)} messages of {topic.name} could not be deleted, the first is {key}: {error}")

    def _record(self, message: Message) -> Record:
        """What is withdrawn is a tombstone, whose headers have the id and no signature: there is nothing to sign."""
        if message.type == WITHDRAWN:
            return Record(message.key, None, {"webhook-id": message.id})
        return Record(message.key, message.body, self._signer.headers(message.id, message.body))

    @contextmanager
    def _reachable(self) -> Iterator[CompactedTopic]:
        place = self.place
        topic = CompactedTopic(servers(place), topic_name(place.tenant, place.target))
        try:
            yield topic
        except (KafkaException, TooSlow) as error:
            raise Transient(f"the topic {topic.name} cannot be written: {error}. It is tried again.") from error
