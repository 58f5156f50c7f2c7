"""Paths and texts of mappings: what they find in a message, and that they look at it once."""

from collections.abc import Iterator
from typing import Any

import pytest

from lily.intake.mapped.intake import Item
from lily.intake.mapped.paths import MAX_FOUND, read_path
from lily.intake.mapped.scopes import Message, Scope
from lily.intake.mapped.templates import read_template
from lily.plugins import Delivery
from tests.unit.incidents.mapped import NOW, SENDER, mapped


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [{"a": [{"b": 1}, {"b": None}, 7], "odd key.": "x", "a-b": 2}]),
        ("$.a[0].b", [1]),
        ("$.a[-1]", [7]),
        ("$.a[*].b", [1, None]),
        ("$.a[9]", []),
        ("$.a.b", []),
        ("$['odd key.']", ["x"]),
        ('$["a-b"]', [2]),
        ("$.a-b", [2]),
        ("$.nothing.at.all", []),
        ("@", ["item"]),
        ("@.a", []),
        ("$.*", [[{"b": 1}, {"b": None}, 7], "x", 2]),
    ],
)
def test_a_path_leads_into_the_message_or_the_item(path: str, found: list[Any]) -> None:
    message = {"a": [{"b": 1}, {"b": None}, 7], "odd key.": "x", "a-b": 2}
    assert read_path(path).find(message, "item") == found


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a.b",
        "$a",
        "$.",
        "$..a",
        "$[?(@.a)]",
        "$[0:2]",
        "$['a",
        "$.a b",
        "$[(1)]",
        "$." + "a." * 300,
        "$" + ".a" * 17,
        "$[*][*][*]",
        "$[99999999]",
        "$.a\n",
    ],
)
def test_what_is_no_path_of_the_subset_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"path|character"):
        read_path(path)


def test_what_a_path_finds_is_bounded() -> None:
    wide = [list(range(1_000))] * 1_000
    assert len(read_path("$[*][*]").find(wide, None)) == MAX_FOUND


class Walked(list[Any]):
    """Counts how often somebody goes through it."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        self.times += 1
        return super().__iter__()


def test_a_path_looks_at_no_more_than_it_finds() -> None:
    wide = [Walked(range(1_000)) for _ in range(1_000)]
    assert len(read_path("$[*][*]").find(wide, None)) == MAX_FOUND
    assert sum(one.times for one in wide) <= MAX_FOUND // 1_000 + 1


def test_what_depends_on_the_message_alone_is_computed_once_for_all_of_its_items() -> None:
    """Otherwise one delivery of 2 MB could occupy a worker for hours: items times paths times its size."""
    shared = Walked([{"x": "?"}] * 100)
    message = Message({"shared": shared})
    fields = {"title": ["$.shared[*].title", "{$.shared[*].title} of {@.id}"], "tables": "$.shared[*].x"}
    condition = {"path": "$.shared[*].x", "in": ["!", "?"]}
    intake = mapped(fields, when=[condition])
    delivery = Delivery(b"", {}, NOW)
    for number in range(50):
        outcome = intake.outcome(Item(message, {"id": number}, b"%d" % number), delivery, SENDER)
        assert outcome.event is not None
    assert shared.times == len({"$.shared[*].title", "$.shared[*].x"})


def test_a_list_or_object_is_written_once_however_often_a_text_names_it() -> None:
    large = {"b": [1] * 1_000, "a": 2}
    message = Message({"large": large})
    assert (message.shown(large) or "").startswith('{"a":2,"b":[1,1')
    assert message.shown(large) is message.shown(large)
    assert message.shown(True) == "true"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ticket {$.id}", ["Ticket 17"]),
        ("{$.yes}/{$.list}/{$.text}", ['true/["b","a"]/x']),
        ("{$.nothing}", []),
        ("{$.null} is null", []),
        ("{$.null?}-{$.nothing?}-{$.id?}", ["--17"]),
        ("{{{$.id}}}", ["{17}"]),
        ("a constant", ["a constant"]),
        ("{series}", ["daily"]),
    ],
)
def test_a_text_has_values_in_braces(text: str, written: list[str]) -> None:
    message = {"id": 17, "yes": True, "list": ["b", "a"], "text": "x", "null": None}
    assert read_template(text).values(Scope(Message(message), None, "daily")) == written
