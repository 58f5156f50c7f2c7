"""Propagates attribute values through the assets of a region, from the values offered in it and at its border.

Breadth first, one level of depth at a time: an asset is first reached on a shortest path, and all neighbours that offer
it an equally short path are known before it passes the value on.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lily.lineage.attribute_rules import DerivedValue


class Offer(NamedTuple):
    value: Any
    depth: int = 0  # above zero if the asset derived the value itself


Offers = Mapping[str, Mapping[str, Offer]]  # by asset and item
DerivedByAsset = dict[str, dict[str, DerivedValue]]  # by asset and item


def propagate_values(arcs: Iterable[tuple[str, str]], offers: Offers, max_depth: int | None = None) -> DerivedByAsset:
    """`arcs` end at assets of the region and start there or at its border. `offers` holds what each asset has before
    the region is recomputed; an asset does not derive an item that it offers.

    Of several neighbours that are equally near to an origin, the one with the smallest id is recorded."""
    outgoing: defaultdict[str, list[str]] = defaultdict(list)
    for start, end in arcs:
        outgoing[start].append(end)
    derived: DerivedByAsset = {}
    levels: defaultdict[int, dict[tuple[str, str], Any]] = defaultdict(dict)
    for asset, items in offers.items():
        for item, (value, depth) in items.items():
            levels[depth][asset, item] = value
    while levels:
        depth = min(levels)
        frontier = levels.pop(depth)
        if max_depth is not None and depth >= max_depth:
            continue
        for (via, item), value in frontier.items():
            for asset in outgoing.get(via, ()):
                if item in offers.get(asset, ()):
                    continue
                known = derived.setdefault(asset, {}).get(item)
                if known is None or (known.depth == depth + 1 and via < known.via):
                    derived[asset][item] = DerivedValue(value, via, depth + 1)
                    levels[depth + 1][asset, item] = value
    return derived
