"""Updates derived attribute values after a change: recomputes the region that the change reaches, nothing else."""

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from lily.lineage.attribute_rules import (
    NOT_STATED,
    AttributeRule,
    DerivedValues,
    StatedValue,
    blocks,
    is_empty,
    origin_values,
)
from lily.lineage.value_propagation import DerivedByAsset, Offer, propagate_values

Arcs = set[tuple[str, str]]  # start and end


class GraphReader(Protocol):
    """Reads a tenant's graph, and the values derived in it so far, for many assets at a time. Raises the errors of its
    store."""

    def arcs_from(self, rule: AttributeRule, assets: Collection[str]) -> Arcs:
        """The arcs that the rule follows and that start at these assets."""

    def arcs_to(self, rule: AttributeRule, assets: Collection[str]) -> Arcs:
        """The arcs that the rule follows and that end at these assets."""

    def stated_values(self, rule: AttributeRule, assets: Collection[str]) -> Mapping[str, StatedValue]:
        """The values that these assets state themselves; an asset may be absent if it states none."""

    def cut(self, assets: Collection[str]) -> set[str]:
        """Those that pass nothing on, because they are deleted and the tenant's setting is `on_delete: cut`."""

    def derived_values(self, rule: AttributeRule, assets: Collection[str]) -> Mapping[str, DerivedValues]:
        """The values that the rule derived for these assets before the change."""


class RecomputedRegion(NamedTuple):
    assets: set[str]
    derived: DerivedByAsset  # an asset of the region that is absent here derives nothing


def recompute_region(rule: AttributeRule, seeds: Collection[str], graph: GraphReader) -> RecomputedRegion:
    """Recomputes what the rule derives for every asset that the seeds can reach.

    Seeds are the assets whose value, deletion or existence changed, and the ends of edges that changed. Assets outside
    the region keep their values and offer them to their neighbours inside it.
    """
    region = _reachable(rule, seeds, graph)
    arcs = _without_cut(graph.arcs_to(rule, region), graph)
    border = {start for start, _ in arcs} - region
    stated = graph.stated_values(rule, region | border)
    before = graph.derived_values(rule, border)
    not_roots = {end for _, end in arcs}
    not_roots |= _not_roots(rule, {asset: stated.get(asset, NOT_STATED) for asset in border}, graph)
    offers: dict[str, dict[str, Offer]] = {}
    for asset in region | border:
        derived = {item: Offer(value.value, value.depth) for item, value in before.get(asset, {}).items()}
        own = origin_values(rule, stated.get(asset, NOT_STATED), root=asset not in not_roots)
        if offered := {**derived, **{item: Offer(value) for item, value in own.items()}}:
            offers[asset] = offered
    return RecomputedRegion(region, propagate_values(arcs, offers, rule.max_depth))


def _reachable(rule: AttributeRule, seeds: Collection[str], graph: GraphReader) -> set[str]:
    """The seeds and every asset that a value can reach from them. The search does not go past an asset that blocks:
    it did not change, so it offers the same value as before."""
    region, frontier = set(seeds), set(seeds)
    while frontier:
        reached = {end for _, end in _without_cut(graph.arcs_from(rule, frontier), graph)} - region
        region |= reached
        stated = graph.stated_values(rule, reached)
        frontier = {asset for asset in reached if not blocks(rule, stated.get(asset, NOT_STATED))}
    return region


def _not_roots(rule: AttributeRule, stated: Mapping[str, StatedValue], graph: GraphReader) -> set[str]:
    """Of the assets for which it matters whether they are roots, those that are not."""
    if rule.mode != "override":
        return set()
    candidates = {asset for asset, value in stated.items() if not is_empty(value.own) and is_empty(value.user)}
    return {end for _, end in _without_cut(graph.arcs_to(rule, candidates), graph)}


def _without_cut(arcs: Arcs, graph: GraphReader) -> Arcs:
    cut = graph.cut({start for start, _ in arcs})
    return {(start, end) for start, end in arcs if start not in cut} if cut else arcs
