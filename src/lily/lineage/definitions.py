"""How a tag propagates, as each tenant defines it."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lily.model.edges import INFLUENCES

Direction = Literal["downstream", "upstream", "both"]
OnDelete = Literal["keep", "cut"]


class Reach(Protocol):
    """How far something propagates, and along which edges."""

    @property
    def direction(self) -> Direction: ...

    @property
    def max_depth(self) -> int | None: ...  # in edges

    @property
    def edge_types(self) -> frozenset[str] | None: ...  # None means all but `influences`


def follows(edge_types: frozenset[str] | None, kind: str) -> bool:
    """Whether something with these `edge_types` passes edges of a type. What only decides which rows or values there
    are is not part of them: `influences` has to be named."""
    return kind != INFLUENCES if edge_types is None else kind in edge_types


def reach_as_dict(reach: Reach) -> dict[str, Any]:
    types = None if reach.edge_types is None else sorted(reach.edge_types)
    return {"direction": reach.direction, "max_depth": reach.max_depth, "edge_types": types}


@dataclass(frozen=True, slots=True)
class TagDefinition:
    key: str  # the name, case-folded
    name: str  # as first defined
    propagates: bool = False
    direction: Direction = "downstream"
    max_depth: int | None = None  # in edges
    edge_types: frozenset[str] | None = None  # None means all but `influences`
    stopped_by_masking: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The fields of the definition, as the API takes and shows them."""
        return {
            "name": self.name,
            "propagates": self.propagates,
            **reach_as_dict(self),
            "stopped_by_masking": self.stopped_by_masking,
        }


# They exist in every tenant and are protective, whatever the tenant defines.
LEGAL_TAGS = (
    TagDefinition("pii", "PII", propagates=True, stopped_by_masking=True),
    TagDefinition("gdpr", "GDPR", propagates=True),
)
