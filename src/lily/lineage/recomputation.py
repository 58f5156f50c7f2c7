"""Everything that is derived in a graph, worked out from nothing: slow, plain, and the judge of every other way.

It relaxes until nothing changes, and shares no code and no idea with the incremental computation in PostgreSQL.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lily.lineage.definitions import TagDefinition
from lily.lineage.graph import Graph

Kind = Literal["propagated", "inherited"]


@dataclass(frozen=True, slots=True)
class Derived:
    asset: str
    tag: str
    kind: Kind
    depth: int  # the edges between it and the nearest origin


def recompute(graph: Graph, definitions: Iterable[TagDefinition]) -> set[Derived]:
    """Every derived tag. An asset that states a tag itself is not said to derive it as well."""
    return {derived for tag in definitions if tag.propagates for derived in _of_tag(graph, tag)}


def _of_tag(graph: Graph, tag: TagDefinition) -> set[Derived]:
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


def _distances(graph: Graph, tag: TagDefinition) -> dict[str, int]:
    """For every asset that has the tag, stated or derived, the fewest edges to an origin."""
    distance = {asset: 0 for asset in graph.assets() if graph.states(asset, tag.key)}
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


def _leaving(graph: Graph, tag: TagDefinition, distance: dict[str, int], asset: str) -> int | None:
    return distance.get(asset) if graph.conducts(asset, tag.key) else None
