"""A Kafka record, and the refusal of one that violates the contract."""

from dataclasses import dataclass
from typing import NamedTuple

from lily.model.errors import Problem


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
