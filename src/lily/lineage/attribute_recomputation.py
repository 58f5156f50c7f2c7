"""Recomputes every value that a rule derives in a graph, from the whole graph.

It is slow and plain: it relaxes until nothing changes, one item at a time, and shares no method with the incremental
computation, whose result `lily recompute` and the tests check against it.
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from itertools import chain

from lily.lineage.attribute_rules import WHOLE_VALUE, AttributeRule, DerivedValue, StatedValue, is_empty, items_of
from lily.lineage.graph import Graph

StatedValues = Mapping[str, StatedValue]  # by asset
DerivedByItem = dict[tuple[str, str], DerivedValue]  # by asset and item


def recompute_attribute(graph: Graph, rule: AttributeRule, stated: StatedValues) -> DerivedByItem:
    arcs = passable_arcs(graph, rule)
    if rule.mode == "add":
        items_by_asset = {asset: items_of(value.own) for asset, value in stated.items()}
        derived: DerivedByItem = {}
        for item, value in dict(chain.from_iterable(items.items() for items in items_by_asset.values())).items():
            origins = {asset: value for asset, items in items_by_asset.items() if item in items}
            derived |= {(asset, item): found for asset, found in _nearest(arcs, origins, rule.max_depth).items()}
        return derived
    roots = stated.keys() - {end for _, end in arcs}
    origins = {asset: value.own for asset, value in stated.items() if is_origin(rule, value, root=asset in roots)}
    return {(asset, WHOLE_VALUE): found for asset, found in _nearest(arcs, origins, rule.max_depth).items()}


def passable_arcs(graph: Graph, rule: AttributeRule) -> set[tuple[str, str]]:
    """The arcs along which a value passes."""
    cut = graph.deleted if graph.on_delete == "cut" else set()
    return {(start, end) for start, end in graph.arcs(rule) if start not in cut and start != end}


def is_origin(rule: AttributeRule, value: StatedValue, *, root: bool) -> bool:
    by_a_person = not is_empty(value.user)
    return not is_empty(value.own) and (rule.mode != "override" or by_a_person or root)


def _nearest(
    arcs: set[tuple[str, str]], origins: Mapping[str, object], max_depth: int | None
) -> dict[str, DerivedValue]:
    """For every asset that a value reaches, the value of the nearest origin."""
    outgoing, incoming = _by_end(arcs, 0), _by_end(arcs, 1)
    distance, pending = dict.fromkeys(origins, 0), deque(origins)
    while pending:
        start = pending.popleft()
        depth = distance[start] + 1
        for end in outgoing.get(start, ()):
            if depth < distance.get(end, depth + 1) and (max_depth is None or depth <= max_depth):
                distance[end] = depth
                pending.append(end)
    derived: dict[str, DerivedValue] = {}
    for asset in sorted(distance.keys() - origins.keys(), key=lambda asset: distance[asset]):
        depth = distance[asset]
        via = min(start for start in incoming[asset] if distance.get(start) == depth - 1)
        derived[asset] = DerivedValue(origins[via] if via in origins else derived[via].value, via, depth)
    return derived


def _by_end(arcs: set[tuple[str, str]], end: int) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for arc in arcs:
        found[arc[end]].append(arc[1 - end])
    return found
