"""Which statements are valid, and how invalid ones are refused."""

from typing import Any

import pytest

from lily.model import ids
from lily.model.errors import Refused
from lily.model.statements import Statement, read_statement


def stated(**attributes: Any) -> dict[str, Any]:
    return {"entity_type": "table", "attributes": {"name": "orders", **attributes}}


def codes(data: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(Refused) as refused:
        read_statement(data, tenant="default")
    return [(problem.code, problem.entity) for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"attributes": {"name": "x"}}, ("MISSING_FIELD", "entity_type")),
        ({"entity_type": "table"}, ("MISSING_FIELD", "attributes.name")),
        ({"entity_type": "tabel", "attributes": {"name": "x"}}, ("UNKNOWN_ENTITY_TYPE", "entity_type")),
        ({"entity_type": 5, "attributes": {"name": "x"}}, ("INVALID_TYPE", "entity_type")),
        ({"entity_type": "table", "attributes": ["name"]}, ("INVALID_TYPE", "attributes")),
        (stated(name=7), ("INVALID_TYPE", "attributes.name")),
        (stated(name="   "), ("INVALID_VALUE", "attributes.name")),
        (stated(name="a\x00b"), ("INVALID_VALUE", "attributes.name")),
        (stated(name="x" * 513), ("TOO_LONG", "attributes.name")),
        (stated(description="nul \x00"), ("INVALID_VALUE", "attributes.description")),
        (stated(description="\ud800"), ("INVALID_VALUE", "attributes.description")),
        (stated(tags="PII"), ("INVALID_TYPE", "attributes.tags")),
        (stated(tags=["PII", 3]), ("INVALID_TYPE", "attributes.tags[1]")),
        (stated(extra={"k\x00": 1}), ("INVALID_VALUE", "attributes.extra")),
        (stated(**{"$type": "view"}), ("INVALID_VALUE", "attributes.$type")),
        (stated(**{"$authorised": None}), ("INVALID_VALUE", "attributes.$authorised")),
        (stated(**{"$held:pii": None}), ("INVALID_VALUE", "attributes.$held:pii")),
        (stated(**{"": None}), ("INVALID_VALUE", "attributes.")),
        (stated(qualified_name="0a1b2c3d-0000-8000-8000-000000000000"), ("INVALID_VALUE", "qualified_name")),
        (stated(qualified_name="db.orders", parent="db.orders"), ("INVALID_VALUE", "attributes.parent")),
        (stated() | {"operation": "restore"}, ("INVALID_VALUE", "operation")),
        (stated() | {"operation": "explode"}, ("INVALID_VALUE", "operation")),
        ({"layer": "user", "qualified_name": "a.b", "attributes": {}}, ("MISSING_FIELD", "attributes")),
    ],
)
def test_a_bad_statement_is_refused_with_the_reason(data: dict[str, Any], expected: tuple[str, str]) -> None:
    assert expected in codes(data)


@pytest.mark.parametrize(
    ("given", "remedy"),
    [("tabel", "unknown entity_type `tabel`; did you mean `table`?"), ("spaceship", "use one of: ")],
)
def test_an_unknown_entity_type_is_refused_with_a_hint(given: str, remedy: str) -> None:
    with pytest.raises(Refused) as refused:
        read_statement(stated() | {"entity_type": given}, tenant="default")
    assert remedy in refused.value.problems[0].description


def test_all_problems_are_reported_together() -> None:
    assert len(codes({"entity_type": "nope", "attributes": {"name": 1, "tags": 2}})) >= 3


def test_excessive_nesting_is_refused() -> None:
    nested: Any = "bottom"
    for _ in range(40):
        nested = [nested]
    assert codes(stated(extra=nested)) == [("TOO_DEEP", "attributes.extra")]


def test_names_are_normalised() -> None:
    statement = read_statement(stated(name="  cafe\u0301 ", tags=["PII", "pii", " GDPR "]), tenant="default")
    assert statement.attributes["name"] == "café"
    assert statement.attributes["tags"] == ["PII", "GDPR"]


def test_a_statement_reads_back_from_the_log_unchanged() -> None:
    statement = read_statement(stated(parent="db", tags=[], owner=None, n={"deep": [1, None]}), tenant="default")
    assert read_statement(statement.as_data(), tenant="default") == statement


def test_absent_is_not_stated_null_clears_and_an_empty_list_means_no_tags() -> None:
    layer = read_statement(stated(owner=None, tags=[]), tenant="default").as_layer("default", "clock")
    assert "description" not in layer.fields
    assert "owner" not in layer.fields
    assert layer.clock_of("owner") == "clock"
    assert layer.clock_of("description") is None
    assert layer.fields["tags"] == {}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"name": "orders", "qualified_name": "wh.s.orders"}, "wh.s.orders"),
        ({"name": "orders", "parent": "wh.s"}, "wh.s.table:orders"),
        ({"name": "orders", "data_source": "wh"}, "wh.table:orders"),
        ({"name": "orders"}, "table:orders"),
        ({"name": 'a.b"c', "parent": "wh"}, 'wh.table:"a.b""c"'),
    ],
)
def test_a_qualified_name_is_stated_or_composed(attributes: dict[str, Any], expected: str) -> None:
    data = {"entity_type": "table", "attributes": attributes}
    assert read_statement(data, tenant="default").qualified_name == expected


def test_only_the_source_states_that_an_asset_exists() -> None:
    person = Statement("user", "upsert", "a.b", None, {"owner": "bob"}).as_layer("default", "c")
    assert "$deleted" not in person.fields
    source = read_statement(stated(), tenant="default").as_layer("default", "c")
    assert source.fields["$deleted"] is False


class TestIds:
    def test_the_same_name_has_the_same_id_within_a_tenant_only(self) -> None:
        assert ids.asset_id("a", "db.t") == ids.asset_id("a", "db.t") != ids.asset_id("b", "db.t")

    def test_the_columns_of_a_table_lie_together(self) -> None:
        columns = {ids.asset_id("a", f"db.s.t.c{number}")[:4] for number in range(50)}
        assert len(columns) == 1
        assert len({ids.asset_id("a", f"db.s.t{number}.c")[:4] for number in range(50)}) > 40

    def test_an_id_is_a_version_8_uuid(self) -> None:
        found = ids.asset_id("a", "db.t")
        assert ids.looks_like_uuid(found)
        assert (found[14], found[19] in "89ab") == ("8", True)
        assert ids.resolve("a", found.upper()) == found

    def test_event_ids_sort_by_time(self) -> None:
        made = [ids.event_id() for _ in range(100)]
        assert len(set(made)) == 100
        assert [text[:13] for text in made] == sorted(text[:13] for text in made)
