"""Which assets would lose a tag if the end of something that is held were confirmed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from lily.lineage.pending import PendingId
from lily.lineage.retagging import Member, lost_between
from lily.lineage.tag_rules import TagRules
from lily.store.assets import StoredAsset
from lily.store.postgres.propagation.retagging import RegionReader, TagChange, consequences
from lily.store.postgres.protection.pending import PendingItem, passing_beside
from lily.store.postgres.sessions import Database


class Kept(NamedTuple):
    assets: frozenset[str]
    complete: bool = True  # false if the tags could reach more assets than were looked at


@dataclass(frozen=True, slots=True)
class KeptAssets:
    """`assets` are those of the ones that the items name that exist. Each level of the graph is a query of its own."""

    database: Database
    tenant: str
    rules: TagRules
    assets: Mapping[str, StoredAsset]

    async def kept_by(self, item: PendingItem) -> Kept:
        """Of several claims on an edge each counts as if it were the last."""
        found, complete, beside = set[str](), True, set[str]()
        if item.id.kind in {"edge", "claim"}:
            beside = await passing_beside(self.database, self.tenant, item.id)
        for tag in item.tags:
            if tag not in beside:
                kept = await self._keeping(item.id, tag)
                found |= kept.assets
                complete = complete and kept.complete
        return Kept(frozenset(found), complete)

    async def _keeping(self, one: PendingId, tag: str) -> Kept:
        if one.kind == "tag":
            return await self._untagged(one.keys[0], tag)
        definition = self.rules.definitions.get(tag)
        max_depth, direction = (definition.max_depth, definition.direction) if definition else (None, "downstream")
        reader = RegionReader(self.database, self.tenant, self.rules, tag, max_depth)
        if one.kind == "deletion":
            return await self._cut(reader, one.keys[0])
        return await self._without(reader, _links(one, direction))

    async def _untagged(self, asset_id: str, tag: str) -> Kept:
        if asset_id not in self.assets:
            return Kept(frozenset())
        change = TagChange(tag, set(), {asset_id})
        changed = await consequences(self.database, self.tenant, self.rules, change, self.assets)
        return Kept(changed.retagged.lost, changed.complete)

    async def _cut(self, reader: RegionReader, asset_id: str) -> Kept:
        await reader.add(asset_id, self._member(reader, asset_id))
        await reader.read_offers()
        region = reader.region
        members = {**region.members, asset_id: region.members[asset_id]._replace(cut=True)}
        return Kept(lost_between(region, replace(region, members=members)), reader.complete)

    async def _without(self, reader: RegionReader, links: list[tuple[str, str, int]]) -> Kept:
        for _, end, _ in links:
            await reader.add(end, self._member(reader, end))
        await reader.read_offers()
        before = replace(reader.region)
        await reader.read_offers([(start, end) for start, end, _ in links])
        left = {link for link in reader.region.links if (link.start, link.end, link.hops) not in links}
        return Kept(lost_between(before, replace(reader.region, links=left)), reader.complete)

    def _member(self, reader: RegionReader, asset_id: str) -> Member:
        return reader.member(self.assets[asset_id]) if asset_id in self.assets else Member()


def _links(one: PendingId, direction: str) -> list[tuple[str, str, int]]:
    """The steps that a tag takes along it: start, end, and the number of edges."""
    if one.kind == "parent":
        child, parent = one.keys
        return [(parent, child, 0)]
    start, end, _ = one.edge
    downstream, upstream = (start, end, 1), (end, start, 1)
    return {"downstream": [downstream], "upstream": [upstream]}.get(direction, [downstream, upstream])
