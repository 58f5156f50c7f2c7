"""The assets that would gain or lose a tag if some assets stated it or no longer did: read level by level."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from lily.lineage.breadth_first import BreadthFirstSearch, Neighbour, Place
from lily.lineage.retagging import Link, Member, Region, Retagged, retagged
from lily.lineage.tag_rules import TagRules
from lily.model.assets import conducting_tags, is_cut, suppressions
from lily.store.assets import StoredAsset
from lily.store.postgres.copying import id_array
from lily.store.postgres.propagation.level_queries import BACKWARD, FORWARD, level_parameters, level_query
from lily.store.postgres.sessions import Database

MAX_REGION = 10_000  # assets; beyond that the result is incomplete


class TagChange(NamedTuple):
    """One tag, and the ids of the assets that would state it or no longer state it, in any layer."""

    tag: str
    add: set[str]
    remove: set[str]


class Consequences(NamedTuple):
    retagged: Retagged
    complete: bool  # false if the tag could reach more assets than MAX_REGION


async def consequences(
    database: Database, tenant: str, rules: TagRules, change: TagChange, assets: Mapping[str, StoredAsset]
) -> Consequences:
    """`assets` are those that the change names. Each level is a query of its own, so a change that is committed
    meanwhile may show in one level and not in another."""
    definition = rules.definitions.get(change.tag)
    reader = RegionReader(database, tenant, rules, change.tag, definition.max_depth if definition else None)
    for asset_id in {*change.add, *change.remove}:
        await reader.add(asset_id, reader.member(assets[asset_id]))
    await reader.read_offers()
    return Consequences(retagged(reader.region, change.add, change.remove), reader.complete)


class RegionReader:
    def __init__(self, database: Database, tenant: str, rules: TagRules, tag: str, max_depth: int | None) -> None:
        self._database, self._tenant, self._tag, self._cut = database, tenant, tag, rules.cut_deleted
        self.region = Region(max_depth)
        self._links: set[Link] = set()  # also those that lead out of the region
        self.complete = True

    async def add(self, asset_id: str, member: Member) -> None:
        """The asset, and everything that it could pass the tag on to."""
        region, seen = self.region, dict[str, Member]()
        region.members[asset_id] = member
        search = BreadthFirstSearch(asset_id, region.max_depth)
        while frontier := search.frontier:
            if len(region.members.keys() | search.visited.keys()) > MAX_REGION:
                self.complete = False
                break
            parameters = {"tag": self._tag, "cut": self._cut, **level_parameters(frontier)}
            rows = await self._database.fetch(
                self._tenant, level_query("propagation/region_level", FORWARD), parameters
            )
            seen |= {row[0]: Member(*row[6:9]) for row in rows}
            self._links |= {Link(via, end, hops, influences) for end, via, hops, _, influences, *_ in rows}
            search.expand(
                Neighbour(end, via, hops, _conducts(seen[end]), content)
                for end, via, hops, content, _, taken, *_ in rows
                if taken
            )
        region.members |= {visited: seen[visited] for visited in search.visited}

    async def read_offers(self, without: Collection[tuple[str, str]] = ()) -> None:
        """Once all assets are added. `without` are the starts and ends of edges, and held parents and their children,
        that are left out."""
        members = self.region.members
        self.region.links = {link for link in self._links if link.end in members}
        parameters = {
            "tag": self._tag,
            "ids": id_array(members),
            "contents": [True] * len(members),
            "cut": self._cut,
            "max_depth": self.region.max_depth,
            "without_starts": [start for start, _ in without],
            "without_ends": [end for _, end in without],
        }
        rows = await self._database.fetch(self._tenant, level_query("propagation/region_offers", BACKWARD), parameters)
        self.region.offers = {Place(member, content): depth for member, content, depth in rows}

    def member(self, asset: StoredAsset) -> Member:
        layers = asset.layers
        return Member(
            self._tag in conducting_tags(layers), self._tag in suppressions(layers), self._cut and is_cut(layers)
        )


def _conducts(member: Member) -> bool:
    return not member.cut and (member.states or not member.suppresses)
