"""The review queue of a tenant in PostgreSQL, decided as the API does, without a log."""

from typing import Any

from lily.bus import topics
from lily.lineage.marks import AssetMark, EdgeMark
from lily.lineage.pending_decisions import Author, Decision, HoldingAsset, asset_events, edge_events
from lily.model import clock
from lily.model.assets import entity_type
from lily.model.edges import EdgeEvent
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.edges.reader import read_edges
from lily.store.postgres.protection.kept import Kept, KeptAssets
from lily.store.postgres.protection.pending import PendingItem, read_pending
from tests.api_database import with_database
from tests.lineage_world import World

RECORD = Record(topics.ASSETS, 0, 0, clock.now(), None, None)


class ReviewQueue:
    def __init__(self, world: World, url: str) -> None:
        self.world, self._url = world, url

    def items(self, limit: int = 50) -> list[PendingItem]:
        async def story(database: Any) -> list[PendingItem]:
            rules = await TagRulesCache(database).get(self.world.tenant)
            items, after = list[PendingItem](), None
            while True:
                page = await read_pending(database, self.world.tenant, rules, after=after, limit=limit)
                items += page.items
                after = page.next
                if after is None:
                    return items

        return with_database(self._url, story)

    def kept(self, item: PendingItem) -> Kept:
        async def story(database: Any) -> Kept:
            rules = await TagRulesCache(database).get(self.world.tenant)
            known = await AssetReader(database, TagRulesCache(database)).find_many(self.world.tenant, item.id.assets)
            return await KeptAssets(database, self.world.tenant, rules, known).kept_by(item)

        return with_database(self._url, story)

    def decide(self, item: PendingItem, decision: Decision) -> None:
        one = item.id
        author = Author(self.world.tenant, "ada", clock.now())

        async def story(database: Any) -> list[Any]:
            if one.kind in {"edge", "claim"}:
                (state,) = (await read_edges(database, self.world.tenant, [one.edge])).values()
                return edge_events(one, decision, state, author, item.held_at, ended_at=item.ended_at or "")
            reader = AssetReader(database, TagRulesCache(database))
            (asset,) = (await reader.find_many(self.world.tenant, [one.keys[0]])).values()
            holding = HoldingAsset(asset.qualified_name, entity_type(asset.layers), asset.layers)
            return asset_events(one, decision, holding, author)

        for event in with_database(self._url, story):
            topic = topics.ASSETS if isinstance(event, AssetEvent) else topics.LINEAGE_INTAKE
            self.world.store.apply(topic, {}, [(RECORD, event)], [])
            if isinstance(event, AssetEvent):
                self.world.marks.assets.append(AssetMark(event.asset_id))
            elif isinstance(event, EdgeEvent):
                self.world.marks.edges.append(EdgeMark(*event.statement.key[:2]))
            else:
                self.world.marks.edges += [EdgeMark(*key[:2]) for key in event.released]
        self.world.settle()
