"""The oracle for derived tags: recomputes every one of them from the whole graph, and replays a path that explains one.

It is slow and plain, relaxes until nothing changes, and shares no code and no method with the incremental propagation
in PostgreSQL, with the Spark job behind `lily recompute` or with `lily.lineage`, of which it has the types alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from lily.lineage.definitions import TagDefinition
from lily.lineage.graph import Edge, Graph

INFLUENCES = "influences"
Kind = Literal["propagated", "influenced", "inherited"]
Place = tuple[str, bool]  # an asset, and whether it has the tag as content: an influence is not inherited


@dataclass(slots=True)
class TagGraph(Graph):
    """For each asset, the tags that it states or holds in any layer, those suppressed on it, and its parent; the assets
    that were deleted with authority."""

    stated: dict[str, set[str]] = field(default_factory=dict)
    suppressed: dict[str, set[str]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    held_parents: dict[str, set[str]] = field(default_factory=dict)  # that ended without authority

    def states(self, asset: str, tag: str) -> bool:
        return tag in self.stated.get(asset, ())

    def above(self, asset: str) -> set[str]:
        """The assets from which it inherits."""
        shown = {self.parents[asset]} if asset in self.parents else set()
        return shown | self.held_parents.get(asset, set())

    def suppresses(self, asset: str, tag: str) -> bool:
        """A suppression hides a derived tag; a tag that the asset states itself still counts."""
        return tag in self.suppressed.get(asset, ()) and not self.states(asset, tag)

    def conducts(self, asset: str, tag: str) -> bool:
        """Whether a tag that the asset has propagates further from it."""
        cut = self.on_delete == "cut" and asset in self.cut
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
    arcs, edges, content = influences(graph, definition), 0, True
    for start, end in pairwise(path):
        if not graph.conducts(start, tag):
            problems.append(f"{tag} does not propagate from {start}")
        if content and start in graph.above(end):
            continue
        edges += 1
        if (start, end) not in arcs:
            problems.append(f"{tag} does not pass from {start} to {end}")
        content = content and not arcs.get((start, end), False)
    if definition.max_depth is not None and edges > definition.max_depth:
        problems.append(f"the path has {edges} edges, more than {definition.max_depth}")
    return problems


def steps_along(edge: Edge, tag: TagDefinition) -> Iterator[tuple[str, str]]:
    """The steps that the tag may take along an edge."""
    blocked = not edge.propagates or (edge.masking and tag.stopped_by_masking)
    unnamed = edge.type == INFLUENCES if tag.edge_types is None else edge.type not in tag.edge_types
    if blocked or unnamed:
        return
    if tag.direction in {"downstream", "both"}:
        yield edge.from_id, edge.to_id
    if tag.direction in {"upstream", "both"}:
        yield edge.to_id, edge.from_id


def influences(graph: TagGraph, tag: TagDefinition) -> dict[tuple[str, str], bool]:
    """Every step that the tag may take along an edge, with whether it can only be an influence."""
    found: dict[tuple[str, str], bool] = {}
    for edge in graph.edges:
        for step in steps_along(edge, tag):
            found[step] = found.get(step, True) and edge.type == INFLUENCES
    return found


def departures(graph: TagGraph, tag: TagDefinition) -> dict[Place, int]:
    """For every asset that the tag propagates from, as content or as an influence, the fewest edges to an origin."""
    distance = _distances(graph, tag)
    return {place: depth for place, depth in distance.items() if graph.conducts(place[0], tag.key)}


def _of_tag(graph: TagGraph, tag: TagDefinition) -> set[Derived]:
    distance = _distances(graph, tag)
    found: dict[tuple[str, Kind], int] = {}
    for start, end, cost in _steps(graph, tag, distance):
        kind: Kind = "inherited" if not cost else "propagated" if end[1] else "influenced"
        depth = distance[start] + cost
        found[end[0], kind] = min(depth, found.get((end[0], kind), depth))
    return {
        Derived(asset, tag.key, kind, depth)
        for (asset, kind), depth in found.items()
        if not graph.states(asset, tag.key)
    }


def _distances(graph: TagGraph, tag: TagDefinition) -> dict[Place, int]:
    """For every asset that has the tag, stated or derived, the fewest edges to an origin."""
    distance = {(asset, True): 0 for asset in graph.stated if graph.states(asset, tag.key)}
    changed = True
    while changed:
        changed = False
        for start, end, cost in list(_steps(graph, tag, distance)):
            depth = distance[start] + cost
            if not graph.states(end[0], tag.key) and depth < distance.get(end, depth + 1):
                distance[end] = depth
                changed = True
    return distance


def _steps(graph: TagGraph, tag: TagDefinition, distance: dict[Place, int]) -> Iterator[tuple[Place, Place, int]]:
    """Every step that the tag takes from where it is: along an edge, or from a parent to a child."""
    for edge in graph.edges:
        for start, end in steps_along(edge, tag):
            for content in (True, False):
                depth = _leaving(graph, tag, distance, (start, content))
                if depth is not None and (tag.max_depth is None or depth < tag.max_depth):
                    yield (start, content), (end, content and edge.type != INFLUENCES), 1
    for child in graph.parents.keys() | graph.held_parents.keys():
        for parent in graph.above(child):
            if _leaving(graph, tag, distance, (parent, True)) is not None:
                yield (parent, True), (child, True), 0


def _leaving(graph: TagGraph, tag: TagDefinition, distance: dict[Place, int], place: Place) -> int | None:
    return distance.get(place) if graph.conducts(place[0], tag.key) else None
