"""The generated estate: the requested number of assets, in the 10/90 mix, the same for the same seed."""

from collections import Counter

import pytest

from lily.estate import Estate
from lily.model.statements import read_statement


@pytest.mark.parametrize("assets", [0, 1, 17, 5_000])
def test_it_has_exactly_the_requested_number_of_assets(assets: int) -> None:
    assert sum(1 for _ in Estate(assets).events()) == assets


def test_the_same_seed_gives_the_same_estate_and_another_seed_another() -> None:
    assert list(Estate(2_000, seed=1).events()) == list(Estate(2_000, seed=1).events())
    assert list(Estate(2_000, seed=1).events()) != list(Estate(2_000, seed=2).events())


def test_a_smaller_estate_is_the_beginning_of_a_larger_one() -> None:
    assert list(Estate(5_000).events())[:300] == list(Estate(300).events())


def test_nine_in_ten_assets_are_columns_and_fields() -> None:
    kinds = Counter(event["entity_type"] for event in Estate(50_000).events())
    small = kinds["column"] + kinds["field"]
    assert 0.88 < small / 50_000 < 0.92


def test_every_asset_is_valid_unique_and_comes_after_its_parent() -> None:
    seen: set[str] = set()
    for event in Estate(10_000).events():
        statement = read_statement(event, tenant="default")
        assert statement.qualified_name not in seen
        assert statement.attributes.get("parent") in {None, *seen}
        seen.add(statement.qualified_name)


def test_edges_join_assets_of_the_estate() -> None:
    names = {event["attributes"]["qualified_name"] for event in Estate(5_000).events()}
    edges = list(Estate(5_000).edges())
    assert len(edges) > 100
    assert all({edge["from"], edge["to"]} <= names for edge in edges)


def test_edges_have_no_loops_and_reach_columns() -> None:
    """A derived asset comes after the asset it is derived from, down to dashboard fields."""
    order = {event["attributes"]["qualified_name"]: at for at, event in enumerate(Estate(5_000).events())}
    kinds = {event["attributes"]["qualified_name"]: event["entity_type"] for event in Estate(5_000).events()}
    edges = list(Estate(5_000).edges())
    assert all(order[edge["from"]] < order[edge["to"]] for edge in edges)
    joined = {(kinds[edge["from"]], kinds[edge["to"]]) for edge in edges}
    assert joined == {("table", "table"), ("table", "dashboard"), ("column", "field")}


def test_it_has_everything_that_an_estate_has() -> None:
    events = list(Estate(20_000).events())
    assert {event["entity_type"] for event in events} == {
        "database",
        "schema",
        "table",
        "column",
        "dashboard",
        "field",
    }
    assert all(event["attributes"]["data_type"] for event in events if event["entity_type"] == "column")
    assert all(event["attributes"]["owner"] for event in events if event["entity_type"] not in {"column", "field"})
    assert {tag for event in events for tag in event["attributes"].get("tags", ())} == {"PII", "GDPR"}
