"""A tag or a parent that ends without authority is held by its layer, until authority ends it or it comes again."""

from functools import reduce
from itertools import permutations

import pytest

from lily.model.assets import conducting_parents, held_tags
from lily.model.ids import asset_id
from lily.model.layers import Layer, merge
from lily.model.statements import Statement

OLD, NEW = asset_id("t", "old"), asset_id("t", "new")


def stated(at: int, *, authorised: bool = False, **attributes: object) -> Layer:
    return Statement("source", "upsert", "a", "table", attributes, authorised=authorised).as_layer("t", str(at))


def in_any_order(*layers: Layer) -> Layer:
    merged = [reduce(merge, order) for order in permutations(layers)]
    assert all(one == merged[0] for one in merged)
    return merged[0]


def tags(at: int, *names: str, authorised: bool = False) -> Layer:
    return stated(at, authorised=authorised, tags=list(names))


def held(*layers: Layer) -> dict[str, str]:
    return held_tags(in_any_order(*layers))


def test_a_tag_that_is_left_out_without_authority_is_held_under_its_name() -> None:
    assert held(tags(1, "PII"), tags(2)) == {"pii": "PII"}
    assert held(tags(1, "PII"), tags(2, authorised=True)) == {}


def test_a_tag_that_comes_again_is_no_longer_held() -> None:
    assert held(tags(1, "PII"), tags(2), tags(3, "PII")) == {}


def test_the_authority_that_stated_a_tag_does_not_end_it() -> None:
    assert held(tags(1, "PII", authorised=True), tags(2)) == {"pii": "PII"}


def test_only_authority_that_is_newer_than_the_last_presence_ends_it() -> None:
    absent = tags(2, authorised=True)
    assert held(tags(1, "PII"), absent, tags(3, "PII"), tags(4)) == {"pii": "PII"}
    assert held(tags(1, "PII"), tags(3, authorised=True), tags(4)) == {}


def test_an_authorised_removal_of_one_tag_ends_that_one() -> None:
    removal = Statement("source", "untag", "a", "table", {}, tag="PII", authorised=True).as_layer("t", "3")
    assert held(tags(1, "PII", "GDPR"), tags(2), removal) == {"gdpr": "GDPR"}


def parents(*layers: Layer) -> set[str]:
    return conducting_parents(in_any_order(*layers))


def under(at: int, parent: str | None, *, authorised: bool = False) -> Layer:
    return stated(at, authorised=authorised, parent=parent)


@pytest.mark.parametrize("parent", ["new", None])
def test_a_parent_that_is_replaced_without_authority_is_held(parent: str | None) -> None:
    shown = {NEW} if parent else set()
    assert parents(under(1, "old"), under(2, parent)) == {OLD} | shown
    assert parents(under(1, "old"), under(2, parent, authorised=True)) == shown


def test_a_parent_that_is_stated_again_is_shown_and_not_held() -> None:
    layer = in_any_order(under(1, "old"), under(2, "new"), under(3, "old", authorised=True))
    assert [key for key in layer.fields if key.startswith("$held_parent:")] == []
    layer = in_any_order(under(1, "old"), under(2, "new"), under(3, "old"))
    assert [key for key in layer.fields if key.startswith("$held_parent:")] == [f"$held_parent:{NEW}"]


def test_only_authority_that_is_newer_than_the_last_statement_of_a_parent_ends_it() -> None:
    moved = under(2, "new", authorised=True)
    assert parents(under(1, "old"), moved, under(3, "old"), under(4, "new")) == {OLD, NEW}
    assert parents(under(1, "old", authorised=True), under(2, "new")) == {OLD, NEW}
