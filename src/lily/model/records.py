"""A record as the log holds it, and what becomes of one that the contract refuses."""

from dataclasses import dataclass
from typing import NamedTuple

from lily.model.errors import Problem


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    received: str  # when the log took it, in fixed width
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that was not applied, and why. It goes to the dead letters, never nowhere."""

    record: Record
    tenant: str  # empty where not even the tenant could be read
    problems: tuple[Problem, ...]
