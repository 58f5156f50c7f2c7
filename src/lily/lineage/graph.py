"""A tenant's graph, as much of it as propagation looks at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from lily.lineage.definitions import Direction, OnDelete, TagDefinition


class Traveller(Protocol):
    """Which edges something passes, and which way: a tag's definition, or an attribute's rule."""

    @property
    def direction(self) -> Direction: ...
    @property
    def edge_types(self) -> frozenset[str] | None: ...
    @property
    def stopped_by_masking(self) -> bool: ...


class Edge(NamedTuple):
    from_id: str
    to_id: str
    type: str
    propagates: bool = True
    masking: bool = False

    def passes(self, one: Traveller) -> bool:
        return (
            self.propagates
            and not (self.masking and one.stopped_by_masking)
            and (one.edge_types is None or self.type in one.edge_types)
        )


@dataclass(slots=True)
class Graph:
    """Live edges; for each asset the tags that it states in any layer, those suppressed on it, and its parent."""

    edges: set[Edge] = field(default_factory=set)
    stated: dict[str, set[str]] = field(default_factory=dict)
    suppressed: dict[str, set[str]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    on_delete: OnDelete = "keep"

    def states(self, asset: str, tag: str) -> bool:
        return tag in self.stated.get(asset, ())

    def suppresses(self, asset: str, tag: str) -> bool:
        """A suppression hides what is derived; what the asset states itself still counts."""
        return tag in self.suppressed.get(asset, ()) and not self.states(asset, tag)

    def conducts(self, asset: str, tag: str) -> bool:
        """Whether a tag that the asset has may leave it."""
        cut = self.on_delete == "cut" and asset in self.deleted
        return not cut and not self.suppresses(asset, tag)

    def arcs(self, one: Traveller) -> Iterator[tuple[str, str]]:
        """From where to where it may pass along edges."""
        for edge in self.edges:
            if edge.passes(one):
                if one.direction != "upstream":
                    yield edge.from_id, edge.to_id
                if one.direction != "downstream":
                    yield edge.to_id, edge.from_id

    def assets(self) -> set[str]:
        ends = {end for edge in self.edges for end in (edge.from_id, edge.to_id)}
        return ends | self.stated.keys() | self.suppressed.keys() | self.parents.keys() | set(self.parents.values())


Definitions = Mapping[str, TagDefinition]
