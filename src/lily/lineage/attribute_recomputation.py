"""Everything that a rule derives in a graph, worked out from nothing: slow, plain, and the judge of every other way.

It relaxes until nothing changes, an item at a time, and shares no idea with the incremental computation.
"""

from collections import defaultdict, deque
from collections.abc import Mapping

from lily.lineage.attribute_rules import WHOLE, AttributeRule, Holder, Label, is_empty, items_of
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
    roots = holders.keys() - {end for _, end in arcs}
    origins = {asset: holder.own for asset, holder in holders.items() if is_origin(rule, holder, root=asset in roots)}
    return {(asset, WHOLE): label for asset, label in _of_one(arcs, origins, rule.max_depth).items()}


def passing(graph: Graph, rule: AttributeRule) -> set[tuple[str, str]]:
    """From where to where a value passes."""
    cut = graph.deleted if graph.on_delete == "cut" else set()
    return {(start, end) for start, end in graph.arcs(rule) if start not in cut and start != end}


def is_origin(rule: AttributeRule, holder: Holder, *, root: bool) -> bool:
    by_a_person = not is_empty(holder.user)
    return not is_empty(holder.own) and (rule.mode != "override" or by_a_person or root)


def _of_one(arcs: set[tuple[str, str]], origins: Mapping[str, object], max_depth: int | None) -> dict[str, Label]:
    leaving, entering = _by_end(arcs, 0), _by_end(arcs, 1)
    distance, pending = dict.fromkeys(origins, 0), deque(origins)
    while pending:
        start = pending.popleft()
        depth = distance[start] + 1
        for end in leaving.get(start, ()):
            if depth < distance.get(end, depth + 1) and (max_depth is None or depth <= max_depth):
                distance[end] = depth
                pending.append(end)
    labels: dict[str, Label] = {}
    for asset in sorted(distance.keys() - origins.keys(), key=lambda asset: distance[asset]):
        depth = distance[asset]
        via = min(start for start in entering[asset] if distance.get(start) == depth - 1)
        labels[asset] = Label(origins[via] if via in origins else labels[via].value, via, depth)
    return labels


def _by_end(arcs: set[tuple[str, str]], end: int) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for arc in arcs:
        found[arc[end]].append(arc[1 - end])
    return found
