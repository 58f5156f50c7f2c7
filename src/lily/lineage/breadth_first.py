"""Breadth-first search over a graph that is read level by level: edges add to the depth, the hierarchy does not.

An asset may be reached as content and as an influence, and is searched from both: only content is inherited.

The caller reads the neighbours of a whole level at once, from PostgreSQL or from a graph in memory. Searched forwards,
this finds the assets that a tag would reach; searched backwards, the origins that a tag comes from.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Neighbour(NamedTuple):
    asset: str
    via: str
    hops: int  # 1 along an edge, 0 along the hierarchy
    conducts: bool = True  # whether the search continues from it
    content: bool = True  # forwards: whether the tag arrives as content; backwards: whether only content counts there


class Place(NamedTuple):
    asset: str
    content: bool


class Visit(NamedTuple):
    depth: int
    via: str


class BreadthFirstSearch:
    """While `frontier` is not empty, read the neighbours of its assets and pass them to `expand`."""

    def __init__(self, start: str, max_depth: int | None = None, *, content: bool = True) -> None:
        self.visited: dict[str, Visit] = {}  # the first of each asset, ordered by depth, without the start
        self.depth = 0
        self._start = start
        self._max_depth = max_depth
        self._frontier = [Place(start, content)]
        self._seen: set[Place] = set()
        self._next_level: dict[Place, Neighbour] = {}

    @property
    def frontier(self) -> list[Place]:
        """The places whose neighbours have not been read, all at one depth; empty at the end of the search."""
        while not self._frontier and self._next_level:
            self.depth += 1
            level, self._next_level = self._next_level, {}
            for neighbour in level.values():
                self._visit(neighbour)
        return self._frontier

    def expand(self, neighbours: Iterable[Neighbour]) -> None:
        """Takes the neighbours of the whole frontier."""
        self._frontier = []
        for neighbour in neighbours:
            if neighbour.hops == 0:
                self._visit(neighbour)
            elif self._max_depth is None or self.depth < self._max_depth:
                self._next_level.setdefault(Place(neighbour.asset, neighbour.content), neighbour)

    def _visit(self, neighbour: Neighbour) -> None:
        place = Place(neighbour.asset, neighbour.content)
        if neighbour.asset == self._start or place in self._seen:
            return
        self._seen.add(place)
        self.visited.setdefault(neighbour.asset, Visit(self.depth, neighbour.via))
        if neighbour.conducts:
            self._frontier.append(place)
