"""Both stores as one catalogue: the lake is read only for what PostgreSQL lacks."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import DerivedTags
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.model.states import AssetState
from lily.store.assets import StoredAsset
from lily.store.catalogue import Catalogue
from lily.store.lake.reader import LakeReader, LakeSnapshot, LakeUnavailable
from lily.store.lake.tables import ASSETS
from lily.store.postgres.catalogue.reader import AssetReader
from tests.warehouse import Warehouse

TENANT = "one"
NAME = "wh.sales.orders.email"
RULES = TagRules()
REACHED = DerivedTags({"pii": "PII"}, {"gdpr": "GDPR"})


class Held(AssetReader):
    """Stands in for PostgreSQL, with these assets."""

    def __init__(self, *assets: StoredAsset) -> None:
        super().__init__(None, None)  # type: ignore[arg-type]  # what would use them is replaced
        self._assets = {asset.id: asset for asset in assets}

    async def find_many(self, tenant: str, asset_ids: Sequence[str]) -> dict[str, StoredAsset]:
        assert tenant == TENANT
        return {asset_id: self._assets[asset_id] for asset_id in asset_ids if asset_id in self._assets}

    async def with_derived_tags(self, tenant: str, assets: Sequence[StoredAsset]) -> list[StoredAsset]:
        assert tenant == TENANT
        return [asset.with_tag_rules(RULES, REACHED) for asset in assets]


def state(layer: str, tick: int, **attributes: Any) -> AssetState:
    data: dict[str, Any] = {"layer": layer, "qualified_name": NAME, "attributes": attributes}
    if layer == "source":
        data["entity_type"] = "column"
    statement = read_statement(data, tenant=TENANT)
    return AssetState.of(AssetEvent(ids.event_id(), f"2026-01-01T00:00:0{tick}.000000Z", TENANT, statement))


def held(known: AssetState, *, awaits_lake: bool) -> StoredAsset:
    return StoredAsset(
        TENANT, known.id, known.qualified_name, known.layers, 4, known.first, known.last, awaits_lake=awaits_lake
    )


@pytest.fixture
def warehouse(tmp_path: Any) -> Warehouse:
    warehouse = Warehouse(str(tmp_path))
    warehouse.append_states([state("source", 1, name="email", data_type="text")])
    return warehouse


async def gone() -> LakeSnapshot:
    return LakeSnapshot({ASSETS: "/no/such/warehouse/1.metadata.json"}, "2026-01-02T00:00:00.000000Z")


def find(catalogue: Catalogue) -> dict[str, Any]:
    found = asyncio.run(catalogue.find(TENANT, ids.asset_id(TENANT, NAME)))
    assert found is not None
    return found.view


def test_an_asset_that_postgresql_lacks_is_read_from_the_lake(warehouse: Warehouse) -> None:
    view = find(Catalogue(Held(), LakeReader(warehouse.locate)))
    assert (view["attributes"]["data_type"], view["version"]) == ("text", 1)
    assert view["fresh_as_of"] == warehouse.located.fresh_as_of
    assert (view["tags"]["propagated"], view["tags"]["inherited"]) == (["PII"], ["GDPR"])
    assert view["tags"]["effective"] == ["GDPR", "PII"]


def test_an_asset_that_awaits_promotion_is_merged_with_its_state_in_the_lake(warehouse: Warehouse) -> None:
    edited = held(state("user", 3, description="by a person"), awaits_lake=True)
    view = find(Catalogue(Held(edited), LakeReader(warehouse.locate)))
    assert (view["attributes"]["data_type"], view["attributes"]["description"]) == ("text", "by a person")
    assert (view["version"], view["created_at"][17:19], view["updated_at"][17:19]) == (4, "01", "03")


def test_an_asset_that_is_complete_in_postgresql_needs_no_lake() -> None:
    whole = held(state("source", 2, name="email"), awaits_lake=False)
    assert find(Catalogue(Held(whole), LakeReader(gone)))["attributes"]["name"] == "email"


def test_a_read_that_needs_the_lake_fails_if_the_lake_is_unavailable() -> None:
    for reader in (Held(), Held(held(state("user", 3, description="x"), awaits_lake=True))):
        with pytest.raises(LakeUnavailable):
            find(Catalogue(reader, LakeReader(gone)))


@pytest.mark.parametrize(("fresh_as_of", "shown"), [(None, "03"), ("2026-01-01T00:00:02.000000Z", "03")])
def test_an_asset_is_never_less_fresh_than_what_it_shows(fresh_as_of: str | None, shown: str) -> None:
    whole = state("source", 1, name="email")
    whole.merge(state("user", 3, description="by a person"))
    view = StoredAsset.of_state(whole, fresh_as_of).view
    assert view["fresh_as_of"][17:19] == view["updated_at"][17:19] == shown


def test_an_asset_is_as_fresh_as_the_store_it_was_read_from() -> None:
    view = StoredAsset.of_state(state("source", 1, name="email"), "2026-01-01T00:00:09.000000Z").view
    assert (view["updated_at"][17:19], view["fresh_as_of"][17:19]) == ("01", "09")


def test_an_edit_that_awaits_its_past_in_the_lake_is_as_fresh_as_the_edit(warehouse: Warehouse) -> None:
    edited = held(state("user", 3, description="by a person"), awaits_lake=True)
    view = find(Catalogue(Held(edited), LakeReader(warehouse.locate)))
    assert view["fresh_as_of"] == view["updated_at"]
