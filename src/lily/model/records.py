"""Kafka records: where they are, what a consumer reads, and the refusal of one that violates the contract."""

from dataclasses import dataclass
from typing import NamedTuple

from lily.model.errors import Problem

Partition = tuple[str, int]  # topic and number


class Position(NamedTuple):
    """Where a record is in the log."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.offset}"


class ConsumedRecord(NamedTuple):
    """A record as a consumer reads it. The pipeline reads `Record`, which also has the time and may lack a key."""

    topic: str
    partition: int
    offset: int
    key: bytes
    value: bytes


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    received: str  # the record's timestamp, in fixed width
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that was not applied, and why. Every one becomes a dead letter."""

    record: Record
    tenant: str  # empty if the tenant could not be read
    problems: tuple[Problem, ...]
