"""Renames in the order in which they happened, and changes of tables as they are in the log."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.model.edges import ClaimsEvent, read_claims_event
from lily.model.errors import Refused
from lily.model.run_queries import QuerySender
from lily.model.schemas import SCHEMAS
from lily.model.table_changes import Renames, SenderLimits, TableChanges, read_table_changes
from tests.openlineage_words import NOW, converted, dataset, run_event


def renames(*pairs: tuple[str, str]) -> Renames:
    found = Renames()
    for pair in pairs:
        found.add(*pair)
    return found


@pytest.mark.parametrize(
    ("pairs", "moved", "gone"),
    [
        ([("a", "b")], {("a", "b")}, ["a"]),
        ([("a", "b"), ("b", "c")], {("a", "c")}, ["a", "b"]),
        ([("a", "tmp"), ("b", "a"), ("tmp", "b")], {("a", "b"), ("b", "a")}, ["tmp"]),
        ([("a", "b"), ("b", "a")], {("a", "b"), ("b", "a")}, []),
        ([("a", "a")], set(), []),
        ([("t", "old"), ("new", "t")], {("t", "old"), ("new", "t")}, ["new"]),
        ([("a", "b"), ("a", "c"), ("a", "d")], {("a", "d")}, ["a", "b", "c"]),
        ([("a", "b"), ("a", "c"), ("x", "y"), ("y", "x")], {("a", "c"), ("x", "y"), ("y", "x")}, ["a", "b"]),
    ],
)
def test_what_renames_add_up_to(pairs: list[tuple[str, str]], moved: set[tuple[str, str]], gone: list[str]) -> None:
    found = renames(*pairs)
    assert (set(found.moved()), found.gone()) == (moved, gone)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=6))
def test_a_name_is_gone_or_has_content_and_the_last_name_given_is_never_gone(pairs: list[tuple[str, str]]) -> None:
    found = renames(*pairs)
    existing = {new for _, new in found.moved()}
    assert existing.isdisjoint(found.gone())
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    assert not changed or changed[-1][1] in existing


CHANGES = TableChanges((("a", "b"),), ("c",), SenderLimits(QuerySender("bob", ("g",), ""), own_only=True))


@pytest.mark.parametrize("changes", [CHANGES, CHANGES._replace(limits=None), TableChanges((), ("c",))])
def test_changes_are_the_same_after_the_log(changes: TableChanges) -> None:
    claims = converted(run_event(outputs=[dataset("t")])).claims
    assert isinstance(claims, ClaimsEvent)
    event = claims.as_cloudevent()
    event["data"]["tables"] = changes.as_data()
    assert read_claims_event(event, received=NOW).tables == changes
    assert "tables" in str(SCHEMAS["claims-event"])


@pytest.mark.parametrize(
    "given", [7, {"renamed": 7}, {"renamed": [["a"]]}, {"renamed": [["a", 7]]}, {"dropped": [7]}, {"sender": 7}]
)
def test_what_is_no_change_is_refused(given: Any) -> None:
    with pytest.raises(Refused):
        read_table_changes(given)
