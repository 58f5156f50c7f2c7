"""A tenant in PostgreSQL and in the lake whose past is read, as the API reads it, without Spark."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import psycopg

from lily.api.reads.as_of import rebuild_past
from lily.api.reads.asset_history import BEGINNING, AssetHistory
from lily.model import clock, ids
from lily.model.envelopes import FUTURE_SKEW
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.pipeline.connections import CATALOGUES
from lily.settings import Settings
from lily.store.assets import StoredAsset
from lily.store.catalogue import Catalogue
from lily.store.lake.reader import LakeReader, LakeSnapshot
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.history import ended_tags
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.connection import connect
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.outbox.batches import Outbox
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.retention.sweeps import Place, sweep
from lily.store.postgres.sessions import Database
from tests.api_database import Result
from tests.both_stores import KEY, BothStores, Parts, Reads
from tests.postgres.migrated import Migrated
from tests.task_lake import TaskLake

if TYPE_CHECKING:
    from lily.api.calls import Call
    from lily.model.assets import LayerName

TABLE, COLUMN = "shop.orders", "shop.orders.amount"


class Told(NamedTuple):
    """What a page of the history says of a change, whichever store it comes from."""

    change: str
    layer: str
    what: dict[str, Any]
    events: tuple[str, ...]


class Past:
    """`state` appends to the log; `follow` lets every query read it to its end, `apply` only the hot lane."""

    def __init__(self, tenant: str, migrated: Migrated, owner: psycopg.Connection, stores: BothStores) -> None:
        self.tenant, self._migrated, self._owner, self._stores = tenant, migrated, owner, stores
        self._lake = stores.lake.reader()
        self._recent = LakeReader(self._located)
        self._runner, self._database = asyncio.Runner(), Database(migrated.url_of("lily_api"))
        self._runner.run(self._database.open())
        self._batches = 0
        self._fresh_as_of: str | None = None

    def close(self) -> None:
        self._lake.close()
        self._recent.close()
        self._runner.run(self._database.close())
        self._runner.close()

    def _run(self, story: Callable[[Database], Awaitable[Result]]) -> Result:
        async def within() -> Result:
            return await story(self._database)

        return self._runner.run(within())

    def state(
        self, name: str, *, layer: str = "source", single: bool = True, time: str = "", **data: Any
    ) -> AssetEvent:
        """`single` writes take the hot lane; others do where the statement needs it."""
        kind = {} if layer == "user" else {"entity_type": "column" if name == COLUMN else "table"}
        said = {"qualified_name": name, "layer": layer, "by": "me", "authorised": True, **kind, **data}
        event = AssetEvent(ids.event_id(), time or clock.now(), self.tenant, read_statement(said, tenant=self.tenant))
        self._stores.state(event, single=single)
        return event

    def apply(self) -> None:
        """One batch per event, so that every change is of one event."""
        for _ in range(100):
            self._stores.apply_hot(1)

    def follow(self, fresh_as_of: str = "") -> str:
        """Returns the time at which all of it could be read. Another `fresh_as_of` is what the lake says it has."""
        self.apply()
        began = fresh_as_of or clock.now()
        self._stores.write_lake(1_000)
        self._batches += 1
        self._owner.execute(
            "insert into lake_batches (number, events, positions) values (%s, 0, '{}') "
            "on conflict (number) do update set committed_at = clock_timestamp()",
            [self._batches],
        )
        self._stores.between_batches()
        self._fresh_as_of = began
        return self.now()

    def now(self) -> str:
        (found,) = self._owner.execute("select clock_timestamp()").fetchone() or (None,)
        assert found is not None
        return clock.stamp(found)

    def archive(self, until: str, *, recorded: str = "infinity", published: bool = True) -> int:
        """Deletes the history until a time, as housekeeping does. `recorded` is what the lake has reached."""
        mine = "id in (select batch_id from changes where tenant_id = %s)"
        if published:
            self._owner.execute(f"delete from batches where {mine}".encode(), [self.tenant])  # noqa: S608
        self._owner.execute(
            "insert into lake_progress (fresh_as_of, batch) values (%(at)s, 1) "
            "on conflict (one) do update set fresh_as_of = %(at)s",
            {"at": recorded},
        )
        before = self.stored_changes()
        with connect(self._migrated.url_of("lily_pipeline"), "test") as pipeline:
            # A sweep in small steps ends at young rows, so it begins at those of this tenant.
            place: Place | None = Place(self._first_batch() - 1)
            while place is not None:
                keep = timedelta(seconds=(clock.parse(self.now()) - clock.parse(until)).total_seconds())
                place = sweep(pipeline, "changes", keep, place, 7).next
        self._owner.execute("delete from lake_progress")  # other tests share the database
        return before - self.stored_changes()

    def _first_batch(self) -> int:
        asked = "select coalesce(min(batch_id), 1) from changes where tenant_id = %s"
        (batch,) = self._owner.execute(asked, [self.tenant]).fetchone() or (1,)
        return int(batch)

    def stored_changes(self) -> int:
        (count,) = self._owner.execute(
            "select count(*) from changes where tenant_id = %s", [self.tenant]
        ).fetchone() or (0,)
        return int(count)

    def history(self, name: str, size: int, between: Callable[[], object] = lambda: None) -> list[Told]:
        """All pages; `between` happens once, after the first."""

        async def story(database: Database) -> list[Told]:
            asset = await self._find(database, name)
            found = AssetHistory(database, self._lake, self.tenant, asset, FUTURE_SKEW)
            items, more = await found.page(BEGINNING, size)
            between()
            while more is not None:
                page, more = await found.page(more, size)
                assert len(page) <= size
                items += page
            return [_told(item) for item in items]

        return self._run(story)

    def ended(self, name: str, tag: str) -> str | None:
        """Who took the tag away from the source layer, which holds it."""

        async def story(database: Database) -> str | None:
            held: list[tuple[LayerName, str]] = [("source", tag)]
            found = await ended_tags(database, self.tenant, ids.asset_id(self.tenant, name), held)
            return found.get(("source", tag), {}).get("by")

        return self._run(story)

    def read(self, name: str) -> dict[str, Any] | None:
        """The asset as it is now."""

        async def story(database: Database) -> dict[str, Any] | None:
            asset = await self._catalogue(database).find(self.tenant, ids.asset_id(self.tenant, name))
            return None if asset is None else _seen(asset)

        return self._run(story)

    def read_at(self, name: str, time: str) -> dict[str, Any]:
        """Raises as `rebuild_past` does."""

        async def story(database: Database) -> dict[str, Any]:
            rules = TagRulesCache(database)
            services = SimpleNamespace(
                database=database,
                lake=self._recent,
                reader=AssetReader(database, rules),
                tag_rules=rules,
                settings=Settings(),
            )
            call = cast("Call", SimpleNamespace(services=services, tenant=self.tenant))
            return _seen(await rebuild_past(call, ids.asset_id(self.tenant, name), name, time))

        return self._run(story)

    async def _located(self) -> LakeSnapshot:
        """The lake, as fresh as it was after `follow`."""
        return LakeSnapshot((await self._lake._locate()).metadata, self._fresh_as_of)

    def _catalogue(self, database: Database) -> Catalogue:
        return Catalogue(AssetReader(database, TagRulesCache(database)), self._lake)

    async def _find(self, database: Database, name: str) -> StoredAsset:
        asset = await self._catalogue(database).find(self.tenant, ids.asset_id(self.tenant, name))
        assert asset is not None
        return asset


def _told(item: dict[str, Any]) -> Told:
    return Told(item["change"], item["layer"], item["what"], tuple(cause["id"] for cause in item["causes"]))


def _seen(asset: StoredAsset) -> dict[str, Any]:
    """What was stated of it, and when it was first stated."""
    shown = ("entity_type", "attributes", "is_deleted", "created_at", "updated_at")
    stated = {layer: asset.view["tags"][layer] for layer in ("source", "enriched", "user")}
    return {name: asset.view[name] for name in shown} | {"tags": stated}


@contextmanager
def pasts(migrated: Migrated, owner: psycopg.Connection, root: Path) -> Iterator[Callable[[], Past]]:
    url = migrated.url_of("lily_pipeline")
    made: list[Past] = []
    with (
        closing(CatalogueWriter(url)) as store,
        closing(Propagator(url)) as propagator,
        closing(Outbox(url)) as outbox,
        closing(Reads(migrated.url_of("lily_api"))) as reads,
        closing(CATALOGUES),
    ):
        parts = Parts(store, propagator, outbox, owner, reads)

        def make() -> Past:
            tenant = f"t{ids.event_id().replace('-', '')[:30]}"
            create_tenant(migrated.owner, tenant)
            owner.execute("delete from lake_batches")  # of other lakes
            found = Past(tenant, migrated, owner, BothStores(tenant, parts, TaskLake(str(root / tenant), url, KEY)))
            made.append(found)
            return found

        try:
            yield make
        finally:
            for one in made:
                one.close()
