"""The oracle for values that rules derive: recomputes them from the whole graph, and replays a path that explains one.

It is slow and plain, and shares no code with `lily.lineage`: neither which edges a rule follows, nor what an origin is,
nor how values spread. It only takes its types from there.
"""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from lily.lineage.attribute_rules import AttributeRule, DerivedValue, StatedValue
from lily.lineage.graph import Graph

Arcs = set[tuple[str, str]]


def expected_values(
    graph: Graph, rule: AttributeRule, stated: Mapping[str, StatedValue]
) -> dict[tuple[str, str], DerivedValue]:
    """By asset and item: the value of the nearest origin, and the smallest of the neighbours that lead to it."""
    steps = arcs(graph, rule)
    found: dict[tuple[str, str], DerivedValue] = {}
    for item in {item for asset in stated for item in origin_items(rule, stated, asset, steps)}:
        held = {asset: own[item] for asset in stated if item in (own := origin_items(rule, stated, asset, steps))}
        reached = dict(held)
        near, depth = set(held), 0
        while near and (rule.max_depth is None or depth < rule.max_depth):
            depth += 1
            arrivals = {end: min(s for s, e in steps if e == end and s in near) for s, end in steps if s in near}
            fresh = {end: via for end, via in arrivals.items() if end not in reached}
            for end, via in fresh.items():
                found[end, item] = DerivedValue(reached[via], via, depth)
            reached |= {end: reached[via] for end, via in fresh.items()}
            near = set(fresh)
    return found


def replay_value(
    path: list[str], item: str, graph: Graph, rule: AttributeRule, stated: Mapping[str, StatedValue]
) -> list[str]:
    """Follows a path, origin first, that should explain a derived value. Returns what is wrong with it, if anything."""
    passable = arcs(graph, rule)
    steps = list(pairwise(path))
    problems = [f"nothing passes from {start} to {end}" for start, end in steps if (start, end) not in passable]
    if not steps or item not in origin_items(rule, stated, path[0], passable):
        problems.append(f"{path[0]} is not an origin of the value")
    if rule.max_depth is not None and len(steps) > rule.max_depth:
        problems.append(f"the path has {len(steps)} edges, more than {rule.max_depth}")
    return problems


def arcs(graph: Graph, rule: AttributeRule) -> Arcs:
    """Every step that a value may take."""
    return {arc for arc in followed(graph, rule) if graph.on_delete == "keep" or arc[0] not in graph.deleted}


def followed(graph: Graph, rule: AttributeRule) -> Arcs:
    """Every step along an edge that the rule follows, also from what is deleted. Masking hides data, not owners."""
    found: Arcs = set()
    for start, end, kind, propagates, _ in graph.edges:
        named = kind != "influences" if rule.edge_types is None else kind in rule.edge_types
        if propagates and named and start != end:
            found |= {(start, end)} if rule.direction in {"downstream", "both"} else set()
            found |= {(end, start)} if rule.direction in {"upstream", "both"} else set()
    return found


def enriched(rule: AttributeRule, source: Any, derived: Mapping[str, DerivedValue]) -> Any:
    """What people see in the enriched layer, which is shown instead of the source's; None if nothing."""
    if rule.mode != "add":
        return next((value.value for value in derived.values()), None)
    own = source if isinstance(source, list) else [source] if _is_said(source) else []
    missing = [value.value for value in derived.values() if value.value not in own]
    return [*own, *sorted(missing)] if missing else None


def origin_items(rule: AttributeRule, stated: Mapping[str, StatedValue], asset: str, steps: Arcs) -> dict[str, Any]:
    """By item, what the asset passes on as its own; a value that travels as a whole has the item ""."""
    source, user = stated.get(asset, (None, None))
    own = source if user is None else user
    if rule.mode == "add":
        items = own if isinstance(own, list) else [own]
        return {json.dumps(item, separators=(",", ":"), sort_keys=True): item for item in items if _is_said(item)}
    overridden = rule.mode == "override" and not _is_said(user) and any(end == asset for _, end in steps)
    return {"": own} if _is_said(own) and not overridden else {}


def _is_said(value: Any) -> bool:
    return value is not None and value not in ("", [], {})
