"""The plug-in: the destination is the last part of the topic's name. The brokers are the operator's, because a client
connects to whatever addresses brokers name, so that those of a tenant could not be guarded."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from confluent_kafka import KafkaException
from pydantic import BaseModel, ConfigDict, Field

from lily.connect.channels.kafka.writer import MAX_MESSAGE, Record, Writer, is_fatal, is_passing
from lily.connect.channels.messages import body_of
from lily.connect.channels.subjects import incident_of
from lily.connect.signing import Secret, signer
from lily.model.errors import LilyError, Terminal, Transient
from lily.outbound.topic_names import beginning, topic_name
from lily.outbound.topics import servers
from lily.plugins import Notification, Surroundings

R = TypeVar("R")
PREFIX = "lily-notifications"
MAX_DESTINATION = 100


class KafkaConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    partitions: int = Field(1, ge=1, le=64, description="of a topic, when Lily creates it")
    secrets: list[Secret] = Field([], max_length=3, description="whsec_…: each signs every record")
    seconds: float = Field(30.0, ge=1, le=60, description="until all in-sync replicas have a record")


class Kafka:
    Config = KafkaConfig

    def __init__(self, config: KafkaConfig) -> None:
        self._config, self._signer = config, signer(config.secrets)
        self._place: Surroundings | None = None
        self._writer: Writer | None = None

    def situate(self, surroundings: Surroundings) -> None:
        self._place = surroundings

    async def check(self, destination: str) -> None:
        _checked(destination)
        await self._tried(asyncio.to_thread(self._opened().reach), destination)

    async def deliver(self, notification: Notification, destination: str) -> str:
        """Returns `topic-partition@offset`. Records about an incident have its id as key, so that they are in order."""
        body, key = body_of(notification), incident_of(notification).id or notification.id
        headers = {name: value for name, value in self._signer.headers(notification.id, body).items() if value}
        record = Record(self._topic(destination), key, body, headers)
        return await self._tried(self._written(record), destination)

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            await asyncio.to_thread(writer.close)

    async def _written(self, record: Record) -> str:
        writer, place = self._opened(), self._situated()
        if not writer.knows(record.topic):
            its = beginning(PREFIX, place.tenant)
            await asyncio.to_thread(writer.ensure, record.topic, self._config.partitions, place.kafka_replication, its)
        return await asyncio.wrap_future(writer.write(record))

    async def _tried(self, call: Awaitable[R], destination: str) -> R:
        try:
            return await call
        except BufferError as error:
            raise Transient("too many records wait for the brokers. It is tried again.") from error
        except KafkaException as error:
            if is_fatal(error):
                await self.close()
            described = f"the topic {self._topic(destination)} cannot be written: {error}"
            raise _refusal(error, described) from error

    def _topic(self, destination: str) -> str:
        return topic_name(PREFIX, self._situated().tenant, _checked(destination))

    def _opened(self) -> Writer:
        if self._writer is None:
            self._writer = Writer(servers(self._situated()), self._config.seconds)
        return self._writer

    def _situated(self) -> Surroundings:
        if self._place is None:
            raise Terminal("the channel does not know for which tenant it is; call `situate` first")
        return self._place


def _checked(destination: str) -> str:
    if not 0 < len(destination) <= MAX_DESTINATION:
        raise Terminal(f"the destination names a topic: use 1 to {MAX_DESTINATION} characters, such as `alerts`.")
    return destination


def _refusal(error: KafkaException, described: str) -> LilyError:
    if is_passing(error):
        return Transient(f"{described}. It is tried again.")
    return Terminal(f"{described}. Let the operator permit it, or shorten the message to {MAX_MESSAGE:,} bytes.")
