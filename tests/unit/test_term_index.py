"""The index of names: it may only rule out what cannot match."""

from collections.abc import Iterable

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.model.search_terms import matches_terms, search_terms
from lily.store.lake.term_index import MAX_VALUES, TermIndex, terms_of

PARTS = st.sampled_from(["wh", "Sales_EU", "orders", "orders-2", "größe", "É", "İd", "id", "a b", "x:y", "\ud800", ""])
QUALIFIED = st.lists(PARTS, min_size=1, max_size=4).map(".".join)
NAMES = st.none() | PARTS | QUALIFIED
SOUGHT = st.lists(st.text(max_size=3) | PARTS, max_size=3)


def rows_of(assets: Iterable[tuple[str, str | None]], entity_type: str = "column") -> pa.Table:
    names = list(assets)
    return pa.table(
        {
            "entity_type": pa.array([entity_type] * len(names), pa.string()),
            "name": pa.array([_stored(name) for _, name in names], pa.string()),
            "qualified_name": pa.array([_stored(name) for name, _ in names], pa.string()),
        }
    )


def _stored(name: str | None) -> str | None:
    return None if name is None else name.replace("\ud800", "")  # no file has a lone surrogate; a search may


@given(assets=st.lists(st.tuples(QUALIFIED, NAMES), max_size=8), sought=SOUGHT)
def test_a_group_with_a_matching_name_is_never_ruled_out(
    assets: list[tuple[str, str | None]], sought: list[str]
) -> None:
    prefixes = [term for text in sought for term in search_terms(text)]
    rows = rows_of(assets)
    names = zip(rows.column("name").to_pylist(), rows.column("qualified_name").to_pylist(), strict=True)
    if prefixes and any(matches_terms(prefixes, f"{name or ''} {qualified}") for name, qualified in names):
        assert terms_of(rows).may_match(prefixes)


@pytest.mark.parametrize(
    ("prefixes", "expected"),
    [
        (["ord", "ema"], True),
        (["ema", "ord"], True),
        (["ord", "pri"], False),  # the terms of two tables
        (["rders"], False),  # within a term
        (["email", "name"], False),  # the terms of two columns
        (["orders", "name"], True),
        (["absent"], False),
        ([], True),
        (None, True),
    ],
)
def test_terms_are_kept_per_parent_and_column(prefixes: list[str] | None, *, expected: bool) -> None:
    rows = rows_of([("wh.orders.email", "email"), ("wh.orders.name", "name"), ("wh.items.price", "price")])
    assert terms_of(rows).may_match(prefixes) is expected


@pytest.mark.parametrize("prefixes", [["orders"], [], None])
def test_a_group_without_columns_matches_nothing(prefixes: list[str] | None) -> None:
    assert not terms_of(None).may_match(prefixes)
    assert not terms_of(rows_of([("wh.orders", "orders")], entity_type="table")).may_match(prefixes)


def test_the_oldest_groups_are_forgotten_beyond_the_limit() -> None:
    reads = list[int]()
    index = TermIndex(max_bytes=3_000)

    def visit(number: int) -> None:
        def read() -> pa.Table:
            reads.append(number)
            return rows_of([(f"wh.t{number}.{'_'.join(str(part) for part in range(100))}", None)])

        assert index.terms(("one", "a.parquet", number), read).may_match([f"t{number}"])

    for number in (0, 1, 0, 2, 0, 3, 0, 1):
        visit(number)
    assert reads == [0, 1, 2, 3, 1]


def test_a_group_is_indexed_for_each_tenant_of_its_own() -> None:
    index = TermIndex()
    index.terms(("one", "a.parquet", 0), lambda: rows_of([("wh.secret.id", "id")]))
    assert not index.terms(("two", "a.parquet", 0), lambda: rows_of([("wh.open.id", "id")])).may_match(["secret"])


@pytest.mark.parametrize(
    ("sources", "owner", "expected"),
    [
        (['{"owner":"a\\"b"}', '{"owner":"ann"}', None], 'a"b', True),
        (['{"owner":"ann"}', '{"name":"x"}'], "an", False),
        (['{"a":{"owner":"bob"},"owner":"ann"}'], "zoe", True),  # not known which of them counts
        ([orjson.dumps({"owner": f"o{number}"}).decode() for number in range(MAX_VALUES + 1)], "zoe", True),
        (['{"owner":"ann"}'], None, True),
    ],
)
def test_owners_of_a_group_rule_it_out(sources: list[str | None], owner: str | None, *, expected: bool) -> None:
    rows = rows_of([(f"wh.t.c{number}", None) for number in range(len(sources))])
    terms = terms_of(rows.append_column("source", pa.array(sources, pa.string())))
    assert terms.may_state("owner", owner) is expected
    assert terms.may_state("data_source", owner) is (owner is None)
