"""Names of an engine's objects become names of assets by the mapping that fits best."""

import pytest

from lily.model.engine_names import EngineMapping, engine_names, parse_engine_mapping, qualified_name
from lily.model.errors import Refused

MAPPINGS = (
    EngineMapping("1", "catalogue", "shop", "pg", "shop"),
    EngineMapping("2", "schema", "shop", "PG.public", "shop.main"),
    EngineMapping("3", "other source", "crm", "pg", "crm"),
)


@pytest.mark.parametrize(
    ("engine_name", "expected"),
    [
        ("pg.sales.orders", "shop.sales.orders"),
        ("pg.PUBLIC.Orders.id", "shop.main.Orders.id"),
        ("pg.public", "shop.main"),
        ("pg.publication", "shop.publication"),
        ("pgx.orders", "pgx.orders"),
        ("hive.orders", "hive.orders"),
    ],
)
def test_the_longest_mapping_of_the_data_source_counts(engine_name: str, expected: str) -> None:
    assert qualified_name(engine_name, "SHOP", MAPPINGS) == expected
    assert qualified_name(engine_name, "SHOP", reversed(MAPPINGS)) == expected


@pytest.mark.parametrize(
    ("asset_name", "expected"),
    [
        ("shop.sales.orders", ["pg.sales.orders"]),
        ("SHOP.main.Orders.id", ["PG.public.Orders.id"]),
        ("shop.public.orders", ["shop.public.orders"]),  # not pg.public, which is shop.main
        ("pg.orders", []),
        ("crm.people", ["crm.people"]),
        ("shopping.orders", ["shopping.orders"]),
    ],
)
def test_an_asset_has_the_names_that_lead_back_to_it(asset_name: str, expected: list[str]) -> None:
    assert engine_names(asset_name, "Shop", MAPPINGS) == expected


def test_an_asset_has_a_name_for_each_mapping() -> None:
    twice = (*MAPPINGS, EngineMapping("4", "copy", "shop", "replica", "shop"))
    assert engine_names("shop.sales.orders", "shop", twice) == ["pg.sales.orders", "replica.sales.orders"]


def test_a_mapping_is_validated_with_all_its_problems() -> None:
    with pytest.raises(Refused) as refused:
        parse_engine_mapping({"name": "m", "datasource": "x", "engine_name": 7}, mapping_id="1")
    found = {(problem.code, problem.entity) for problem in refused.value.problems}
    assert found == {
        ("UNKNOWN_FIELD", "datasource"),
        ("MISSING_FIELD", "data_source"),
        ("INVALID_TYPE", "engine_name"),
        ("MISSING_FIELD", "asset_name"),
    }
    with pytest.raises(Refused):
        parse_engine_mapping([], mapping_id="1")
