"""Replays a path that explains a value which a rule derived."""

from itertools import pairwise

from lily.lineage.attribute_recomputation import StatedValues, is_origin, passable_arcs
from lily.lineage.attribute_rules import NOT_STATED, AttributeRule, items_of
from lily.lineage.graph import Graph


def replay_value(path: list[str], item: str, graph: Graph, rule: AttributeRule, holders: StatedValues) -> list[str]:
    """Follows a path, origin first, that should explain a derived value. Returns what is wrong with it, if anything."""
    arcs = passable_arcs(graph, rule)
    steps = list(pairwise(path))
    problems = [f"nothing passes from {start} to {end}" for start, end in steps if (start, end) not in arcs]
    origin = holders.get(path[0], NOT_STATED)
    root = path[0] not in {end for _, end in arcs}
    begins = item in items_of(origin.own) if rule.mode == "add" else is_origin(rule, origin, root=root)
    if not steps or not begins:
        problems.append(f"{path[0]} is not an origin of the value")
    if rule.max_depth is not None and len(steps) > rule.max_depth:
        problems.append(f"the path has {len(steps)} edges, more than {rule.max_depth}")
    return problems
