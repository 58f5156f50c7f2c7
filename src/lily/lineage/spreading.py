"""What rules bring to the assets of a region, from what sets out in it and from what its neighbours have.

Nearest first, a level of depth at a time: whoever is reached first is reached on a shortest way, and all that offer it
as short a way are known before it offers the value on.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lily.lineage.attribute_rules import Label


class Start(NamedTuple):
    value: Any
    depth: int = 0  # above zero where it had come from elsewhere itself


Starts = Mapping[str, Mapping[str, Start]]  # by asset and item
Found = dict[str, dict[str, Label]]  # by asset and item


def spread(arcs: Iterable[tuple[str, str]], starts: Starts, max_depth: int | None = None) -> Found:
    """`arcs` lead from assets that let values leave to those of the region, and `starts` tells for both kinds what they
    have without the region's help. An item that an asset has to start with, it does not take from others.

    Of several neighbours that are equally near to an origin, the one with the smallest id counts."""
    ways: defaultdict[str, list[str]] = defaultdict(list)
    for start, end in arcs:
        ways[start].append(end)
    found: Found = {}
    levels: defaultdict[int, dict[tuple[str, str], Any]] = defaultdict(dict)
    for asset, items in starts.items():
        for item, (value, depth) in items.items():
            levels[depth][asset, item] = value
    while levels:
        depth = min(levels)
        frontier = levels.pop(depth)
        if max_depth is not None and depth >= max_depth:
            continue
        for (via, item), value in frontier.items():
            for asset in ways.get(via, ()):
                if item in starts.get(asset, ()):
                    continue
                known = found.setdefault(asset, {}).get(item)
                if known is None or (known.depth == depth + 1 and via < known.via):
                    found[asset][item] = Label(value, via, depth + 1)
                    levels[depth + 1][asset, item] = value
    return found
