"""The oracle for derived tags: recomputes every one of them from the whole graph, and replays a path that explains one.

It is slow and plain, relaxes until nothing changes, and shares no code and no method with the incremental propagation
in PostgreSQL or with the Spark job behind `lily recompute`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from lily.lineage.definitions import TagDefinition
from lily.lineage.graph import Graph

Kind = Literal["propagated", "inherited"]


@dataclass(slots=True)
class TagGraph(Graph):
    """For each asset, the tags that it states in any layer, those suppressed on it, and its parent."""

    stated: dict[str, set[str]] = field(default_factory=dict)
    suppressed: dict[str, set[str]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)

    def states(self, asset: str, tag: str) -> bool:
        return tag in self.stated.get(asset, ())

    def suppresses(self, asset: str, tag: str) -> bool:
        """A suppression hides a derived tag; a tag that the asset states itself still counts."""
        return tag in self.suppressed.get(asset, ()) and not self.states(asset, tag)

    def conducts(self, asset: str, tag: str) -> bool:
        """Whether a tag that the asset has propagates further from it."""
        cut = self.on_delete == "cut" and asset in self.deleted
        return not cut and not self.suppresses(asset, tag)


@dataclass(frozen=True, slots=True)
class Derived:
    asset: str
    tag: str
    kind: Kind
    depth: int  # edges to the nearest origin


def recompute(graph: TagGraph, definitions: Iterable[TagDefinition]) -> set[Derived]:
    """Every derived tag. An asset that states a tag itself does not derive it as well."""
    return {derived for tag in definitions if tag.propagates for derived in _of_tag(graph, tag)}


def replay(path: Sequence[str], graph: TagGraph, definition: TagDefinition) -> list[str]:
    """Follows a path, origin first, that should explain a derived tag. Returns what is wrong with it, if anything."""
    tag = definition.key
    if len(path) < 2:
        return ["a derived tag needs a path of at least two assets"]
    problems = [] if graph.states(path[0], tag) else [f"{path[0]} does not state {tag}"]
    arcs, edges = set(graph.arcs(definition)), 0
    for start, end in pairwise(path):
        if not graph.conducts(start, tag):
            problems.append(f"{tag} does not propagate from {start}")
        if graph.parents.get(end) == start:
            continue
        edges += 1
        if (start, end) not in arcs:
            problems.append(f"{tag} does not pass from {start} to {end}")
    if definition.max_depth is not None and edges > definition.max_depth:
        problems.append(f"the path has {edges} edges, more than {definition.max_depth}")
    return problems


def departures(graph: TagGraph, tag: TagDefinition) -> dict[str, int]:
    """For every asset that the tag propagates from, the fewest edges to an origin."""
    distance = _distances(graph, tag)
    return {asset: depth for asset, depth in distance.items() if graph.conducts(asset, tag.key)}


def _of_tag(graph: TagGraph, tag: TagDefinition) -> set[Derived]:
    distance = _distances(graph, tag)
    found: dict[tuple[str, Kind], int] = {}
    for start, end in graph.arcs(tag):
        depth = _leaving(graph, tag, distance, start)
        if depth is not None and (tag.max_depth is None or depth < tag.max_depth):
            found[end, "propagated"] = min(depth + 1, found.get((end, "propagated"), depth + 1))
    for child, parent in graph.parents.items():
        depth = _leaving(graph, tag, distance, parent)
        if depth is not None:
            found[child, "inherited"] = depth
    return {
        Derived(asset, tag.key, kind, depth)
        for (asset, kind), depth in found.items()
        if not graph.states(asset, tag.key)
    }


def _distances(graph: TagGraph, tag: TagDefinition) -> dict[str, int]:
    """For every asset that has the tag, stated or derived, the fewest edges to an origin."""
    distance = {asset: 0 for asset in graph.stated if graph.states(asset, tag.key)}
    changed = True
    while changed:
        changed = False
        arcs = [(start, end, 1) for start, end in graph.arcs(tag)]
        arcs += [(parent, child, 0) for child, parent in graph.parents.items()]
        for start, end, cost in arcs:
            depth = _leaving(graph, tag, distance, start)
            if depth is None or (cost and tag.max_depth is not None and depth >= tag.max_depth):
                continue
            if depth + cost < distance.get(end, depth + cost + 1):
                distance[end] = depth + cost
                changed = True
    return distance


def _leaving(graph: TagGraph, tag: TagDefinition, distance: dict[str, int], asset: str) -> int | None:
    return distance.get(asset) if graph.conducts(asset, tag.key) else None
