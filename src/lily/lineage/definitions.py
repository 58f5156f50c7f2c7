"""How a tag travels: decided by each tenant, tag by tag."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["downstream", "upstream", "both"]
OnDelete = Literal["keep", "cut"]


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
