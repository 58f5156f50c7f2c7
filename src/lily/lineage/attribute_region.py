"""What a change makes of derived attributes: everything behind it is worked out anew, and nothing else.

Whoever knows the graph, a store or a test, is asked about many assets at once.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from lily.lineage.attribute_rules import SILENT, AttributeRule, Holder, Labels, is_empty, sets_out, stops
from lily.lineage.spreading import Found, Start, spread

Arcs = set[tuple[str, str]]  # from where to where


class Surroundings(Protocol):
    """A tenant's graph as it is now, and what was derived in it before. Raises what its store raises."""

    def leaving(self, rule: AttributeRule, assets: Collection[str]) -> Arcs:
        """The arcs that the rule passes and that begin at these."""

    def entering(self, rule: AttributeRule, assets: Collection[str]) -> Arcs:
        """Those that end at these."""

    def holders(self, rule: AttributeRule, assets: Collection[str]) -> Mapping[str, Holder]:
        """What these say themselves, where they say anything."""

    def cut(self, assets: Collection[str]) -> set[str]:
        """Those of them that nothing leaves, because they are deleted and the tenant has decided so."""

    def derived(self, rule: AttributeRule, assets: Collection[str]) -> Mapping[str, Labels]:
        """What the rule had brought to these."""


class Reworked(NamedTuple):
    region: set[str]
    labels: Found  # of the region: what is not here has nothing from elsewhere


def rework(rule: AttributeRule, seeds: Collection[str], around: Surroundings) -> Reworked:
    """What the rule brings to everything behind the seeds: assets whose value, deletion or arrival changed, and ends of
    edges that did. All others keep what they have, and offer it to their neighbours in the region."""
    region = _behind(rule, seeds, around)
    arcs = _open(around.entering(rule, region), around)
    beyond = {start for start, _ in arcs} - region
    holders = around.holders(rule, region | beyond)
    before = around.derived(rule, beyond)
    led_to = {end for _, end in arcs} | _led_to(rule, {asset: holders.get(asset, SILENT) for asset in beyond}, around)
    starts: dict[str, dict[str, Start]] = {}
    for asset in region | beyond:
        had = {item: Start(label.value, label.depth) for item, label in before.get(asset, {}).items()}
        own = sets_out(rule, holders.get(asset, SILENT), root=asset not in led_to)
        if starting := {**had, **{item: Start(value) for item, value in own.items()}}:
            starts[asset] = starting
    return Reworked(region, spread(arcs, starts, rule.max_depth))


def _behind(rule: AttributeRule, seeds: Collection[str], around: Surroundings) -> set[str]:
    """The seeds and what a value can reach from them. Not what is behind an asset that has a value of its own and did
    not change: that asset offers what it offered before."""
    region, frontier = set(seeds), set(seeds)
    while frontier:
        reached = {end for _, end in _open(around.leaving(rule, frontier), around)} - region
        region |= reached
        holders = around.holders(rule, reached)
        frontier = {asset for asset in reached if not stops(rule, holders.get(asset, SILENT))}
    return region


def _led_to(rule: AttributeRule, holders: Mapping[str, Holder], around: Surroundings) -> set[str]:
    """Those that are no roots, as far as that matters."""
    if rule.mode != "override":
        return set()
    in_question = {asset for asset, holder in holders.items() if not is_empty(holder.own) and is_empty(holder.user)}
    return {end for _, end in _open(around.entering(rule, in_question), around)}


def _open(arcs: Arcs, around: Surroundings) -> Arcs:
    cut = around.cut({start for start, _ in arcs})
    return {(start, end) for start, end in arcs if start not in cut} if cut else arcs
