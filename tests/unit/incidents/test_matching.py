"""Names of tables as different systems write them."""

import pytest

from lily.incidents import folded, is_bare, spellings


@pytest.mark.parametrize(
    "name",
    [
        "shop:public.orders",
        "SHOP.PUBLIC.ORDERS",
        "shop/public/orders",
        '"shop"."public"."orders"',
        "`shop`.public.orders",
    ],
)
def test_names_fold_alike_in_any_case_with_any_separator(name: str) -> None:
    assert folded(name) == "shop.public.orders"
    assert {"shop.public.orders", "shop:public.orders", "shop/public/orders"} <= {
        one.lower() for one in spellings(name)
    }


def test_only_ascii_letters_fold_as_in_the_index_of_names() -> None:
    assert folded("SHOP.ÄPFEL") == "shop.Äpfel"


def test_a_name_without_schema_is_bare() -> None:
    assert is_bare("orders")
    assert not is_bare("public.orders")
    assert spellings("orders") == ["orders"]


@pytest.mark.parametrize("name", ["", " ", ":", "..."])
def test_what_names_nothing_folds_to_nothing(name: str) -> None:
    assert folded(name) == ""
    assert not is_bare(name)
