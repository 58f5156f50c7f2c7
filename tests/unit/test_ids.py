"""Ids follow from tenant and qualified name, for ever: everything that is stored is found by them."""

import pytest

from lily.model import ids


def test_an_id_is_what_it_has_always_been() -> None:
    assert ids.asset_id("default", "shop.public.orders") == "b47deab8-e9d3-84cb-b0a6-b3483734190f"
    assert ids.asset_id("default", "orders") == "e04ce04c-fd3e-83cc-ac9e-4717345788c4"


def test_two_tenants_have_different_ids_for_the_same_name() -> None:
    assert ids.asset_id("north", "shop.orders") != ids.asset_id("south", "shop.orders")
    assert ids.asset_id("a", "bc") != ids.asset_id("ab", "c")


def test_what_is_below_one_asset_is_between_two_ids() -> None:
    first, last = ids.ids_below("default", "shop.public.orders")
    assert all(first <= ids.asset_id("default", f"shop.public.orders.{name}") <= last for name in ("id", "total", "é"))
    assert not first <= ids.asset_id("default", "shop.public.orders") <= last


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("a.b.c", "a.b"), ("s3://bucket/key", "s3://bucket"), ("a/b.c", "a/b"), ("a", "a"), (".a", ".a")],
)
def test_the_prefix_of_a_name_ends_at_its_last_separator(name: str, prefix: str) -> None:
    assert ids.name_prefix(name) == prefix


def test_an_id_refers_to_itself_in_any_case_and_a_name_to_its_id() -> None:
    asset = ids.asset_id("default", "orders")
    assert ids.resolve("south", asset.upper()) == asset
    assert ids.resolve("default", "orders") == asset


def test_a_composed_name_is_never_ambiguous() -> None:
    assert ids.compose_qualified_name("shop", "table", "orders") == "shop.table:orders"
    assert ids.compose_qualified_name(None, "table", "orders") == "table:orders"
    assert ids.compose_qualified_name("shop", "table", 'a.b"c') == 'shop.table:"a.b""c"'
