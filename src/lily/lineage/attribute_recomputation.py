"""Everything that a rule derives in a graph, worked out from nothing: slow, plain, and the judge of every other way.

It relaxes until nothing changes, an item at a time, and shares no idea with the incremental computation.
"""

from collections.abc import Mapping
from itertools import pairwise

from lily.lineage.attribute_rules import SILENT, WHOLE, AttributeRule, Holder, Label, is_empty, items_of
from lily.lineage.graph import Graph

Holders = Mapping[str, Holder]
Derived = dict[tuple[str, str], Label]  # by asset and item


def recompute_attribute(graph: Graph, rule: AttributeRule, holders: Holders) -> Derived:
    arcs = passing(graph, rule)
    if rule.mode == "add":
        having = {asset: items_of(holder.own) for asset, holder in holders.items()}
        items = {item: value for items in having.values() for item, value in items.items()}
        derived: Derived = {}
        for item, value in items.items():
            origins = {asset: value for asset, items in having.items() if item in items}
            derived |= {(asset, item): label for asset, label in _of_one(arcs, origins, rule.max_depth).items()}
        return derived
    origins = {asset: holder.own for asset, holder in holders.items() if is_origin(rule, holder, asset, arcs)}
    return {(asset, WHOLE): label for asset, label in _of_one(arcs, origins, rule.max_depth).items()}


def passing(graph: Graph, rule: AttributeRule) -> set[tuple[str, str]]:
    """From where to where a value passes."""
    cut = graph.deleted if graph.on_delete == "cut" else set()
    return {(start, end) for start, end in graph.arcs(rule) if start not in cut and start != end}


def is_origin(rule: AttributeRule, holder: Holder, asset: str, arcs: set[tuple[str, str]]) -> bool:
    if is_empty(holder.own):
        return False
    by_a_person = not is_empty(holder.user)
    return rule.mode != "override" or by_a_person or all(end != asset for _, end in arcs)


def replay_value(path: list[str], item: str, graph: Graph, rule: AttributeRule, holders: Holders) -> list[str]:
    """What is wrong with a path that is to explain a derived value, origin first; nothing where it holds."""
    arcs = passing(graph, rule)
    steps = list(pairwise(path))
    problems = [f"nothing passes from {start} to {end}" for start, end in steps if (start, end) not in arcs]
    origin = holders.get(path[0], SILENT)
    begins = item in items_of(origin.own) if rule.mode == "add" else is_origin(rule, origin, path[0], arcs)
    if not steps or not begins:
        problems.append(f"{path[0]} is no origin of it")
    if rule.max_depth is not None and len(steps) > rule.max_depth:
        problems.append(f"{len(steps)} edges are more than {rule.max_depth}")
    return problems


def _of_one(arcs: set[tuple[str, str]], origins: Mapping[str, object], max_depth: int | None) -> dict[str, Label]:
    distance = dict.fromkeys(origins, 0)
    changed = True
    while changed:
        changed = False
        for start, end in arcs:
            depth = distance.get(start, 1 << 30) + 1
            if depth < distance.get(end, depth + 1) and (max_depth is None or depth <= max_depth) and depth < 1 << 30:
                distance[end] = depth
                changed = True
    labels: dict[str, Label] = {}
    for asset in sorted(distance.keys() - origins.keys(), key=lambda asset: distance[asset]):
        depth = distance[asset]
        via = min(start for start, end in arcs if end == asset and distance.get(start) == depth - 1)
        labels[asset] = Label(origins[via] if via in origins else labels[via].value, via, depth)
    return labels
