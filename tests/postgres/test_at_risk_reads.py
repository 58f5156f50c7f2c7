"""What is at risk, as the API reads it: with its role, on every kind of read."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar, cast

import pytest

from lily.store.postgres.at_risk.reading import assets_at_risk, risk_paths
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.catalogue.search import SearchRequest, lake_assets_by_lineage, search
from lily.store.postgres.definitions.tags import TagRulesCache, read_tag_rules
from lily.store.postgres.graph.nodes import read_nodes
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.risks import Risks, RiskWorld

Result = TypeVar("Result")
NAMES = ("raw", "raw.orders", "mart.orders", "bi.sales", "bi.sales.tile", "calm")


class Api:
    """A connection of the API's role, and an event loop for it."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self.database = Database(url)
        self.run(self.database.open())

    def close(self) -> None:
        self.run(self.database.close())
        self._runner.close()

    def run(self, work: Awaitable[Result]) -> Result:
        async def wait() -> Result:
            return await work

        return self._runner.run(wait())

    @property
    def reader(self) -> AssetReader:
        return AssetReader(self.database, TagRulesCache(self.database))


@pytest.fixture(scope="module")
def api(migrated: Migrated) -> Iterator[Api]:
    found = Api(migrated.url_of("lily_api"))
    yield found
    found.close()


@pytest.fixture
def estate(risks: Risks, make_world: Callable[[], World]) -> RiskWorld:
    """raw above raw.orders → mart.orders → bi.sales, which has a tile; a column of the lake; and an asset beside it."""
    estate = RiskWorld(risks, make_world())
    world = estate.world
    for name in ("raw", "mart.orders", "calm"):
        world.asset(name)
    world.asset("raw.orders", parent="raw", tags=["PII"])
    world.typed("dashboard", "bi.sales")
    world.typed("chart", "bi.sales.tile", parent="bi.sales")
    world.edge("raw.orders", "mart.orders")
    world.edge("mart.orders", "bi.sales")
    world.edge("raw.orders", "mart.orders.total")
    world.settle()
    estate.lake_parent("mart.orders.total", "mart.orders")
    return estate


def shown(api: Api, estate: RiskWorld) -> dict[str, list[str]]:
    world = estate.world
    assets = api.run(api.reader.find_many(world.tenant, [world.id_of(name) for name in NAMES]))
    return {asset.qualified_name: asset.view["at_risk"] for asset in assets.values() if asset.view["at_risk"]}


def listed(api: Api, estate: RiskWorld, **filters: str) -> dict[str, Any]:
    tenant = estate.world.tenant
    request = SearchRequest(cast("Any", filters), False, "name", "asc", 50)
    found = api.run(search(api.database, tenant, request, api.run(read_tag_rules(api.database, tenant))))
    return {asset.qualified_name: asset.view["at_risk"] for asset in found.assets}


def test_a_read_has_the_incidents_of_the_asset_and_of_what_is_above_it(api: Api, estate: RiskWorld) -> None:
    assert shown(api, estate) == {}
    one, two = estate.incident("one", "raw"), estate.incident("two", "mart.orders")
    estate.deliver()
    both = sorted([one, two])
    expected = {"raw": [one], "raw.orders": [one], "mart.orders": both, "bi.sales": both, "bi.sales.tile": both}
    assert shown(api, estate) == expected
    assert listed(api, estate) == expected | {"calm": []}
    assert listed(api, estate, entity_type="chart") == {"bi.sales.tile": both}
    assert listed(api, estate, at_risk="true") == {name: expected[name] for name in ("raw", "mart.orders", "bi.sales")}
    assert listed(api, estate, at_risk="true", tag="pii").keys() == {"mart.orders", "bi.sales"}
    estate.incident("one", state="resolved")
    estate.deliver()
    assert shown(api, estate) == {"mart.orders": [two], "bi.sales": [two], "bi.sales.tile": [two]}


def test_tags_that_propagated_and_risks_do_not_hide_each_other(api: Api, estate: RiskWorld) -> None:
    world = estate.world
    before = api.run(api.reader.find_many(world.tenant, [world.id_of(name) for name in NAMES]))
    incident = estate.incident("one", "calm", "bi.sales")
    estate.deliver()
    after = api.run(api.reader.find_many(world.tenant, [world.id_of(name) for name in NAMES]))
    assert {id_: asset.view["tags"] for id_, asset in after.items()} == {
        id_: asset.view["tags"] for id_, asset in before.items()
    }
    assert after[world.id_of("bi.sales")].view["tags"]["propagated"] == ["PII"]
    assert shown(api, estate) == {name: [incident] for name in ("calm", "bi.sales", "bi.sales.tile")}


def test_lineage_and_lists_have_columns_that_only_the_lake_has(api: Api, estate: RiskWorld) -> None:
    incident = estate.incident("one", "raw")
    estate.deliver()
    world, total = estate.world, estate.world.id_of("mart.orders.total")
    rules = api.run(api.reader.rules(world.tenant))
    nodes = api.run(read_nodes(api.database, world.tenant, [total, *(world.id_of(name) for name in NAMES)], rules))
    assert {node.qualified_name for node in nodes.values() if list(node.at_risk) == [incident]} == {
        *NAMES,
        "mart.orders.total",
    } - {"calm"}
    for filters in ({"at_risk": "true"}, {"at_risk": "true", "tag": "pii"}):
        ids = api.run(lake_assets_by_lineage(api.database, world.tenant, cast("Any", filters), start="", limit=10))
        assert ids == [total]
    assert api.run(lake_assets_by_lineage(api.database, world.tenant, {"at_risk": "true"}, start=total, limit=10)) == []


def test_an_incident_lists_what_it_reaches_page_by_page_with_paths(api: Api, estate: RiskWorld) -> None:
    incident, tenant, id_of = estate.incident("one", "raw"), estate.world.tenant, estate.world.id_of
    other = estate.incident("two", "mart.orders")
    estate.deliver()
    found = api.run(assets_at_risk(api.database, tenant, incident, start=None, limit=10))
    assert {asset.qualified_name: asset.via for asset in found} == {
        "raw": None,
        "mart.orders": id_of("raw.orders"),
        "mart.orders.total": id_of("raw.orders"),
        "bi.sales": id_of("mart.orders"),
    }
    first = api.run(assets_at_risk(api.database, tenant, incident, start=None, limit=3))
    rest = api.run(assets_at_risk(api.database, tenant, incident, start=first[-1].asset_id, limit=3))
    assert first + rest == found
    paths = api.run(risk_paths(api.database, tenant, incident, [id_of("bi.sales"), id_of("calm")]))
    way = ("raw", "raw.orders", "mart.orders", "bi.sales")
    assert paths == {id_of("bi.sales"): tuple(id_of(name) for name in way)}
    shorter = api.run(risk_paths(api.database, tenant, other, [id_of("bi.sales"), id_of("raw")]))
    assert shorter == {id_of("bi.sales"): tuple(id_of(name) for name in way[2:])}, "of each incident alone"


def test_no_other_tenant_sees_it(api: Api, estate: RiskWorld, make_world: Callable[[], World]) -> None:
    incident = estate.incident("one", "raw")
    estate.deliver()
    other = make_world().tenant
    assert api.run(assets_at_risk(api.database, other, incident, start=None, limit=10)) == []
    assert api.run(api.reader.find_many(other, [estate.world.id_of("raw")])) == {}
