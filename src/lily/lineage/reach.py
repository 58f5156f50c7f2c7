"""How far something gets, neighbour by neighbour: edges count, steps along the hierarchy do not.

Whoever knows the neighbours, a store or a test's graph, is asked for those of many assets at once. Forwards this tells
what a tag would reach from an asset; backwards, with neighbours asked the other way round, where it comes from.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Arrival(NamedTuple):
    asset: str
    via: str
    hops: int  # 1 along an edge, 0 along the hierarchy
    conducts: bool = True  # whether it goes on from there


class Place(NamedTuple):
    depth: int
    via: str


class Reach:
    """Breadth first from one asset: while there is a frontier, its neighbours are to be taken in."""

    def __init__(self, start: str, max_depth: int | None = None) -> None:
        self.places: dict[str, Place] = {}  # what was reached, in the order of depth; not the start
        self.depth = 0
        self._start = start
        self._max_depth = max_depth
        self._frontier = [start]
        self._later: dict[str, Arrival] = {}

    @property
    def frontier(self) -> list[str]:
        """The assets whose neighbours are not known yet, all at one depth; none when it is done."""
        while not self._frontier and self._later:
            self.depth += 1
            later, self._later = self._later, {}
            for arrival in later.values():
                self._arrive(arrival)
        return self._frontier

    def take(self, arrivals: Iterable[Arrival]) -> None:
        """The neighbours of the whole frontier."""
        self._frontier = []
        for arrival in arrivals:
            if arrival.hops == 0:
                self._arrive(arrival)
            elif self._max_depth is None or self.depth < self._max_depth:
                self._later.setdefault(arrival.asset, arrival)

    def _arrive(self, arrival: Arrival) -> None:
        if arrival.asset == self._start or arrival.asset in self.places:
            return
        self.places[arrival.asset] = Place(self.depth, arrival.via)
        if arrival.conducts:
            self._frontier.append(arrival.asset)
