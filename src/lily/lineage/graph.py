"""The part of a tenant's lineage graph that a recomputation needs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from lily.lineage.definitions import Direction, OnDelete, follows


class Propagation(Protocol):
    """Along which edges, and in which direction, something propagates: a tag's definition or an attribute's rule."""

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

    def passes(self, propagation: Propagation) -> bool:
        return (
            self.propagates
            and not (self.masking and propagation.stopped_by_masking)
            and follows(propagation.edge_types, self.type)
        )


@dataclass(slots=True)
class Graph:
    """The edges that are not deleted, and the assets that are."""

    edges: set[Edge] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    on_delete: OnDelete = "keep"

    def arcs(self, propagation: Propagation) -> Iterator[tuple[str, str]]:
        """The start and end of every step that it may take along an edge."""
        for edge in self.edges:
            if edge.passes(propagation):
                if propagation.direction != "upstream":
                    yield edge.from_id, edge.to_id
                if propagation.direction != "downstream":
                    yield edge.to_id, edge.from_id

    def assets(self) -> set[str]:
        """The ends of all edges."""
        return {end for edge in self.edges for end in (edge.from_id, edge.to_id)}
