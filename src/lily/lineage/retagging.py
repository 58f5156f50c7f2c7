"""What would change if assets stated a tag, or no longer did: who gains it and who loses it, without writing anything.

A region is a part of the graph that contains everything the changed assets could pass the tag on to. What is outside
does not depend on them, so it is known by what it offers to the region: the tag, with the number of edges from its
origin.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from lily.lineage.breadth_first import Place


class Member(NamedTuple):
    """An asset of the region: whether it states the tag, suppresses it, or is deleted and therefore cut off."""

    states: bool = False
    suppresses: bool = False
    cut: bool = False


class Link(NamedTuple):
    """A step that the tag may take: 1 hop along an edge, 0 from a parent to a child."""

    start: str
    end: str
    hops: int
    influences: bool = False  # what takes it is an influence from there on


@dataclass(slots=True)
class Region:
    max_depth: int | None = None  # of the tag, in edges
    members: dict[str, Member] = field(default_factory=dict)
    links: set[Link] = field(default_factory=set)
    offers: dict[Place, int] = field(default_factory=dict)  # the smallest depth that is offered to members from outside


class Retagged(NamedTuple):
    gained: frozenset[str]
    lost: frozenset[str]


def retagged(region: Region, add: Collection[str], remove: Collection[str]) -> Retagged:
    """The members on which the tag would become effective, and those on which it would no longer be."""
    states = {asset for asset, member in region.members.items() if member.states}
    before, after = (_effective(region, stating) for stating in (states, (states - set(remove)) | set(add)))
    return Retagged(frozenset(after - before), frozenset(before - after))


def lost_between(before: Region, after: Region) -> frozenset[str]:
    """The members on which the tag is effective in the first region, and would no longer be in the second: the same one
    with a link, an offer or a member changed."""
    states = {asset for asset, member in before.members.items() if member.states}
    return frozenset(_effective(before, states) - _effective(after, states))


def _effective(region: Region, states: Collection[str]) -> set[str]:
    return {asset for asset, _ in _depths(region, states) if asset in states or not region.members[asset].suppresses}


def _depths(region: Region, states: Collection[str]) -> dict[Place, int]:
    """The fewest edges to an origin, for every member that the tag reaches, as content or as an influence; the nearest
    first."""
    onwards: dict[str, list[Link]] = {}
    for link in region.links:
        onwards.setdefault(link.start, []).append(link)
    depths: dict[Place, int] = {}
    waiting = [(0, Place(asset, content=True)) for asset in states]
    waiting += [(depth, place) for place, depth in region.offers.items()]
    heapify(waiting)
    while waiting:
        depth, place = heappop(waiting)
        if place in depths:
            continue
        depths[place] = depth
        asset, content = place
        member = region.members[asset]
        if member.cut or (member.suppresses and asset not in states):
            continue
        for link in onwards.get(asset, ()):
            near = region.max_depth is None or depth < region.max_depth
            if near if link.hops else content:
                heappush(waiting, (depth + link.hops, Place(link.end, content and not link.influences)))
    return depths
