"""How a tag travels: decided by each tenant, tag by tag."""

from dataclasses import dataclass
from typing import Literal, get_args

Direction = Literal["downstream", "upstream", "both"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
OnDelete = Literal["keep", "cut"]
ON_DELETE: tuple[OnDelete, ...] = get_args(OnDelete)


@dataclass(frozen=True, slots=True)
class TagDefinition:
    key: str  # the name, folded
    name: str  # as first defined
    propagates: bool = False
    direction: Direction = "downstream"
    max_depth: int | None = None  # in edges
    edge_types: frozenset[str] | None = None  # None: all
    stopped_by_masking: bool = False


# They exist in every tenant, and protect whatever else is decided.
LEGAL = (
    TagDefinition("pii", "PII", propagates=True, stopped_by_masking=True),
    TagDefinition("gdpr", "GDPR", propagates=True),
)
