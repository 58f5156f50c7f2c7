"""Breadth-first search over a graph that is read level by level: edges add to the depth, the hierarchy does not.

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


class Visit(NamedTuple):
    depth: int
    via: str


class BreadthFirstSearch:
    """While `frontier` is not empty, read the neighbours of its assets and pass them to `expand`."""

    def __init__(self, start: str, max_depth: int | None = None) -> None:
        self.visited: dict[str, Visit] = {}  # ordered by depth, without the start
        self.depth = 0
        self._start = start
        self._max_depth = max_depth
        self._frontier = [start]
        self._next_level: dict[str, Neighbour] = {}

    @property
    def frontier(self) -> list[str]:
        """The assets whose neighbours have not been read, all at one depth; empty at the end of the search."""
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
                self._next_level.setdefault(neighbour.asset, neighbour)

    def _visit(self, neighbour: Neighbour) -> None:
        if neighbour.asset == self._start or neighbour.asset in self.visited:
            return
        self.visited[neighbour.asset] = Visit(self.depth, neighbour.via)
        if neighbour.conducts:
            self._frontier.append(neighbour.asset)
