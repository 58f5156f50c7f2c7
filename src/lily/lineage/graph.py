"""A tenant's graph, as much of it as propagation looks at."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from lily.lineage.definitions import Direction, OnDelete


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
    """The edges that are not deleted, and the assets that are."""

    edges: set[Edge] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    on_delete: OnDelete = "keep"

    def arcs(self, one: Traveller) -> Iterator[tuple[str, str]]:
        """From where to where it may pass along edges."""
        for edge in self.edges:
            if edge.passes(one):
                if one.direction != "upstream":
                    yield edge.from_id, edge.to_id
                if one.direction != "downstream":
                    yield edge.to_id, edge.from_id

    def assets(self) -> set[str]:
        """The ends of all edges."""
        return {end for edge in self.edges for end in (edge.from_id, edge.to_id)}
