"""How a tag propagates, as each tenant defines it."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["downstream", "upstream", "both"]
OnDelete = Literal["keep", "cut"]


@dataclass(frozen=True, slots=True)
class TagDefinition:
    key: str  # the name, case-folded
    name: str  # as first defined
    propagates: bool = False
    direction: Direction = "downstream"
    max_depth: int | None = None  # in edges
    edge_types: frozenset[str] | None = None  # None means all
    stopped_by_masking: bool = False


# They exist in every tenant and are protective, whatever the tenant defines.
LEGAL_TAGS = (
    TagDefinition("pii", "PII", propagates=True, stopped_by_masking=True),
    TagDefinition("gdpr", "GDPR", propagates=True),
)
