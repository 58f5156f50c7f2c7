"""The oracle for what is at risk: plain reachability over the whole graph, from nothing."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class RiskGraph:
    """The edges that conduct, as pairs, and the parent of each asset that has one."""

    edges: frozenset[tuple[str, str]]
    parents: dict[str, str]

    def reached(self, own: Iterable[str]) -> set[str]:
        """Every asset that an incident with these assets puts at risk, inherited or not."""
        found, rest = set[str](), list(own)
        while rest:
            asset = rest.pop()
            if asset not in found:
                found.add(asset)
                rest += [end for start, end in self.edges if start == asset]
                rest += [child for child, parent in self.parents.items() if parent == asset]
        return found

    def stored(self, own: Collection[str]) -> set[str]:
        """Of these, what has a row: the incident's own assets, and the ends of edges from what is at risk."""
        reached = self.reached(own)
        return set(own) | {end for start, end in self.edges if start in reached}

    def explains(self, path: Collection[str], own: Collection[str]) -> bool:
        """Whether a path leads from one of the incident's own assets along edges and down the hierarchy."""
        steps = list(path)
        return (
            bool(steps)
            and steps[0] in own
            and all((start, end) in self.edges or self.parents.get(end) == start for start, end in pairwise(steps))
        )
