"""A page of assets has room for what a batch updates, so that indexes are not touched."""

import random
from collections.abc import Callable, Iterable
from contextlib import closing

import psycopg

from lily.bus import topics
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

ASSETS, BATCH, ROUNDS = 2_000, 400, 2
# A version on the same page needs no entry in an index: none of what is indexed changes.
_PAGES = "select id::text, (ctid::text::point)[0]::integer from assets where tenant_id = %s"


def stated(tenant: str, number: int, turn: int) -> AssetEvent:
    attributes = {
        "name": f"orders_{number}",
        "qualified_name": f"warehouse.shop_{number % 97}.orders_{number}",
        "parent": f"warehouse.shop_{number % 97}",
        "description": f"One row an order as the shop took it, by hour. Revision {turn:016x}.",
        "owner": "alice",
        "data_source": "warehouse",
    }
    statement = read_statement({"entity_type": "table", "attributes": attributes}, tenant=tenant)
    return AssetEvent(f"{turn}-{number}", f"2026-01-01T00:00:{turn:02}.000000Z", tenant, statement)


def test_restating_a_fifth_of_all_assets_at_once_updates_nearly_all_in_place(
    migrated: Migrated, owner: psycopg.Connection, make_world: Callable[[], World]
) -> None:
    tenant = make_world().tenant

    def write(writer: CatalogueWriter, numbers: Iterable[int], turn: int) -> None:
        events = [stated(tenant, number, turn) for number in numbers]
        record = Record(topics.ASSETS, 0, 0, "2026-01-02T00:00:00.000000Z", None, None)
        writer.apply(topics.ASSETS, {}, [(record, event) for event in events], [])

    def pages() -> dict[str, int]:
        return dict(owner.execute(_PAGES, [tenant]).fetchall())

    moved = 0
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as writer:
        for start in range(0, ASSETS, BATCH):
            write(writer, range(start, start + BATCH), 0)
        order = random.Random(1).sample(range(ASSETS), ASSETS)
        for turn in range(1, ROUNDS + 1):
            before = pages()
            for start in range(0, ASSETS, BATCH):
                write(writer, order[start : start + BATCH], turn)
            after = pages()
            assert before.keys() == after.keys()
            moved += sum(before[asset] != page for asset, page in after.items())
    assert moved <= 0.05 * ASSETS * ROUNDS
