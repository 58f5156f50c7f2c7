"""Whether an explanation holds: a path is replayed step by step against the graph."""

from collections.abc import Sequence
from itertools import pairwise

from lily.lineage.definitions import TagDefinition
from lily.lineage.graph import Graph


def replay(path: Sequence[str], graph: Graph, definition: TagDefinition) -> list[str]:
    """What is wrong with a path that is to explain a derived tag, origin first; nothing where it holds."""
    tag = definition.key
    if len(path) < 2:
        return ["a derived tag comes from elsewhere"]
    problems = [] if graph.states(path[0], tag) else [f"{path[0]} does not state {tag}"]
    arcs, edges = set(graph.arcs(definition)), 0
    for start, end in pairwise(path):
        if not graph.conducts(start, tag):
            problems.append(f"{tag} does not leave {start}")
        if graph.parents.get(end) == start:
            continue
        edges += 1
        if (start, end) not in arcs:
            problems.append(f"{tag} does not pass from {start} to {end}")
    if definition.max_depth is not None and edges > definition.max_depth:
        problems.append(f"{edges} edges are more than {definition.max_depth}")
    return problems
