"""The event that states the plain columns of one table at once."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.model import columns as module
from lily.model.columns import (
    ColumnsEvent,
    events_of,
    read_asset_record,
    read_columns_event,
    travels_with_table,
    without_implied,
)
from lily.model.errors import Refused
from lily.model.events import read_event
from lily.model.lanes import lane_of
from lily.model.schemas import SCHEMAS
from lily.model.states import AssetState

NOW = "2026-11-15T11:00:00.000000Z"
TABLE = "shop.public.orders"
ATTRIBUTES = st.fixed_dictionaries(
    {},
    optional={
        "data_type": st.sampled_from(["int", "varchar(64)", "größe"]),
        "description": st.text("abc äπ\n", max_size=20),
        "ordinal_position": st.integers(1, 1000),
        "owner": st.sampled_from(["zoe", "ben"]),
        "custom": st.one_of(st.booleans(), st.lists(st.integers(0, 9), max_size=3)),
    },
)
COLUMNS = st.dictionaries(st.from_regex(r"[a-zé][a-z0-9_ ]{0,8}[a-z0-9]", fullmatch=True), ATTRIBUTES, min_size=1)


def event(columns: Any, **more: Any) -> ColumnsEvent:
    return ColumnsEvent("e1", NOW, "t", TABLE, columns, by="spark", correlation="c1", **more)


@given(COLUMNS, st.booleans())
def test_it_is_read_as_it_was_written(columns: dict[str, Any], authorised: bool) -> None:  # noqa: FBT001 - drawn
    stated = event(columns, authorised=authorised)
    assert read_asset_record(stated.as_cloudevent(), received=NOW) == stated


@given(COLUMNS)
def test_it_conforms_to_its_schema(columns: dict[str, Any]) -> None:
    jsonschema_rs.validator_for(SCHEMAS["columns-event"]).validate(event(columns).as_cloudevent())


@given(COLUMNS)
def test_it_means_the_same_as_one_event_per_column(columns: dict[str, Any]) -> None:
    stated = event(columns)
    single = [read_event(one.as_cloudevent(), received=NOW) for one in stated.events()]
    assert [one.statement.qualified_name for one in single] == [f"{TABLE}.{name}" for name in columns]
    assert list(stated.states()) == [AssetState.of(one) for one in single]
    assert single == stated.events()


@given(COLUMNS)
def test_what_it_states_is_what_could_travel_with_the_table(columns: dict[str, Any]) -> None:
    for one in event(columns).events():
        statement = one.statement
        assert travels_with_table(statement.qualified_name, "column", statement.attributes)
        assert without_implied(statement.attributes) == columns[statement.attributes["name"]]
        assert lane_of(one) == "bulk"


def test_only_the_statements_about_the_given_assets_are_taken() -> None:
    stated = event({"a": {}, "b": {}})
    wanted = stated.events()[1]
    assert events_of(stated, {("t", wanted.asset_id)}) == [wanted]
    assert events_of(stated, {("other", wanted.asset_id)}) == []
    assert events_of(wanted, {("t", wanted.asset_id)}) == [wanted]


@pytest.mark.parametrize(
    ("name", "kind", "more"),
    [
        ("orders.id", "column", {"tags": ["pii"]}),
        ("orders.id", "column", {"tags": []}),
        ("orders.id", "column", {"description": None}),
        ("orders.id", "table", {}),
        ("orders.id", "column", {"parent": "items"}),
        ("orders.id", "column", {"name": "key"}),
        ("orders.a.b", "column", {"name": "a.b"}),
    ],
)
def test_statements_that_need_more_travel_by_themselves(name: str, kind: str, more: dict[str, Any]) -> None:
    assert travels_with_table("orders.id", "column", {"name": "id", "parent": "orders"})
    assert not travels_with_table(name, kind, {"name": "id", "parent": "orders", **more})


@pytest.mark.parametrize(
    ("columns", "entity"),
    [
        (None, "columns"),
        ({}, "columns"),
        ({f"c{number}": {} for number in range(501)}, "columns"),
        ({"a.b": {}}, "columns.a.b"),
        ({"": {}}, "columns."),
        ({" a": {}}, "columns. a"),
        ({"e\u0301": {}}, "columns.e\u0301"),
        ({"a": None}, "columns.a"),
        ({"a": {"tags": ["pii"]}}, "columns.a"),
        ({"a": {"name": "b"}}, "columns.a"),
        ({"a": {"parent": "b"}}, "columns.a"),
        ({"a": {"description": None}}, "columns.a"),
        ({"a": {"description": "\x00"}}, "attributes.description"),
        ({"a": {"$deleted": True}}, "attributes.$deleted"),
        ({"a" * 1020: {}}, f"columns.{'a' * 64}"),
    ],
)
def test_what_could_not_be_stated_by_itself_is_refused(columns: Any, entity: str) -> None:
    with pytest.raises(Refused) as refused:
        read_columns_event(event(columns).as_cloudevent(), received=NOW)
    assert entity in {problem.entity for problem in refused.value.problems}


@pytest.mark.parametrize("parent", [None, "", 7, "01a1e6c7-d2e2-7324-bdda-20c964377869", "a" * 1025])
def test_the_table_is_named_by_its_qualified_name(parent: Any) -> None:
    stated = event({"a": {}}).as_cloudevent()
    stated["data"]["parent"] = parent
    with pytest.raises(Refused):
        read_columns_event(stated, received=NOW)


NAMES = st.sampled_from(["id", "a.b", "a/b", " id", "id ", "", "ä", "e\u0301", "a\x00", "a\tb", "n" * 512, "n" * 513])
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    ["text", "ä", "a\x00", "x" * 65_537, "\ud800", 1, -1, 1.5, True, None, [], {"a": "\x00"}]
)
KEYS = st.sampled_from(["data_type", "description", "ordinal_position", "name", "parent", "tags", "owner", "$x", ""])


@given(st.sampled_from(["shop.orders", "shöp", "p" * 1_020]), NAMES, st.dictionaries(KEYS, VALUES, max_size=3))
def test_the_short_way_for_plain_columns_accepts_and_refuses_the_same(
    parent: str, name: str, attributes: dict[str, object]
) -> None:
    stated = ColumnsEvent("e1", NOW, "t", parent, {name: attributes}).as_cloudevent()

    def read() -> object:
        try:
            return read_columns_event(stated, received=NOW)
        except Refused as refused:
            return refused.problems

    short = read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_is_plain", lambda *_: False)
        assert read() == short
