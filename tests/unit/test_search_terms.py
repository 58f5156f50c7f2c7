"""The terms by which assets are found."""

import pytest

from lily.model.search_terms import LONGEST, TEXT_TERMS, search_terms, searched, text_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("warehouse.sales/Order_Items:v-2", ["warehouse", "sales", "order", "items", "v", "2"]),
        ("“Größe” — in €, 😀; (ÉTÉ)", ["grösse", "in", "été"]),
        ("ΟΔΟΣ", ["οδοσ"]),
        ("注文、明細", ["注文", "明細"]),
        ("' & | ! :* <-> \ud800", []),
        ("x" * 100, ["x" * LONGEST]),
    ],
)
def test_terms_are_split_at_separators_and_case_does_not_count(text: str, terms: list[str]) -> None:
    assert search_terms(text) == terms


def test_owner_and_business_terms_come_before_the_description() -> None:
    shown = {"description": "Net of returns.", "business_terms": ["Monthly Revenue", "B2B"], "owner": "alice"}
    assert text_terms(shown) == ["alice", "monthly", "revenue", "b2b", "net", "of", "returns"]


def test_numbers_of_a_description_are_left_out_because_refreshes_change_them() -> None:
    shown = {"description": "Q3 of 2026, run 0f3a9-77, 12rows, v2 x_9"}
    assert text_terms(shown) == ["q3", "of", "run", "v2", "x", "9"]


def test_a_long_description_has_so_many_terms_and_no_more() -> None:
    assert len(text_terms({"description": "a b " * 10_000})) == TEXT_TERMS


@pytest.mark.parametrize(
    ("prefixes", "found"), [(["ord", "rev"], True), (["rev"], True), (["evenue"], False), (["ord", "x"], False)]
)
def test_each_prefix_begins_a_term_of_the_names_or_of_the_rest(prefixes: list[str], *, found: bool) -> None:
    assert searched("sales.orders", {"name": "orders", "description": "Revenue"}).match(prefixes) is found
