"""Decisions as read restrictions, and the names and fields they are about."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from lily.enforce.iceberg import (
    Column,
    Field,
    NotExpressible,
    catalogued_field,
    merged,
    named_columns,
    parse_field,
    refuse_unlisted,
    refuse_unnamed,
    restrictions,
    split_namespace,
)
from lily.model.errors import Refused
from lily.policy import MASK_ACTIONS, Decision, Mask, MaskAction, parse_row_filter

ALLOW = Decision("allow", None, "")
DENY = Decision("deny", None, "")
TEXT, NUMBER = Field("email", 4, "string"), Field("age", 5, "int")


def masked(action: MaskAction, value: Any = None) -> Decision:
    return Decision("mask", None, "", Mask(action, value))


def projections(*decided: tuple[Field, Decision], table: Decision = ALLOW) -> dict[int, str]:
    columns = named_columns(("shop.people",), [field for field, _ in decided])
    found = restrictions(table, list(zip(columns, [decision for _, decision in decided], strict=True)), "ann")
    listed = found.get("required-column-projections", [])
    assert all(one.keys() == {"field-id", "action"} for one in listed)
    assert len({one["field-id"] for one in listed}) == len(listed)
    return {one["field-id"]: one["action"] for one in listed}


def test_a_table_without_restrictions_has_none() -> None:
    assert restrictions(ALLOW, [], "ann") == {}
    assert projections((TEXT, ALLOW), (NUMBER, ALLOW)) == {}


@pytest.mark.parametrize("action", MASK_ACTIONS)
def test_each_mask_is_the_action_of_its_name_where_the_type_takes_it(action: MaskAction) -> None:
    kind = "timestamptz" if action.startswith("truncate") else "string"
    assert projections((Field("c", 4, kind), masked(action))) == {4: action}


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        ("int", "show-last-4"),
        ("", "show-last-4"),
        ("struct", "mask-alphanum"),
        ("string", "truncate-to-year"),
        ("double", "sha-256-global"),
        ("", "sha-256-query-local"),
    ],
)
def test_a_mask_that_the_type_cannot_take_hides_the_value(kind: str, action: MaskAction) -> None:
    assert projections((Field("c", 4, kind), masked(action))) == {4: "replace-with-null"}


def test_a_required_field_is_a_constant_and_never_null() -> None:
    required = Field("c", 4, "int", required=True)
    for decision in (DENY, masked("replace-with-null"), masked("show-first-4")):
        assert projections((required, decision)) == {4: "mask-to-fixed-value"}


def test_a_fixed_value_of_a_policy_is_the_specifications_constant() -> None:
    assert projections((TEXT, masked("mask-to-fixed-value", "hidden"))) == {4: "mask-to-fixed-value"}


def test_a_denied_column_is_null() -> None:
    assert projections((TEXT, DENY), (NUMBER, ALLOW)) == {4: "replace-with-null"}


def test_a_row_filter_of_a_column_alone_hides_the_column() -> None:
    own, of_table = parse_row_filter("country = 'DE'"), parse_row_filter("age > 3")
    table = Decision("row-filter", None, "", None, (of_table,))
    column = Decision("row-filter", None, "", None, (of_table, own))
    assert projections((TEXT, column), (NUMBER, table), table=table) == {4: "replace-with-null"}


@pytest.mark.parametrize("decision", [DENY, masked("show-last-4")])
def test_a_restricted_column_without_a_field_id_is_an_error_that_names_the_remedy(decision: Decision) -> None:
    with pytest.raises(NotExpressible, match=r"'email'.*field_id.*field=4"):
        projections((Field("email"), decision))


@pytest.mark.parametrize("refuse", [refuse_unlisted, refuse_unnamed])
@pytest.mark.parametrize("decision", [DENY, masked("show-last-4")])
def test_columns_that_nobody_lists_must_be_readable(
    decision: Decision, refuse: Callable[[Decision, Sequence[Decision]], None]
) -> None:
    refuse(ALLOW, [ALLOW])
    with pytest.raises(NotExpressible, match="state the fields"):
        refuse(ALLOW, [decision])


def test_several_row_filters_must_all_pass() -> None:
    filters = (parse_row_filter("age > 3"), parse_row_filter("age < 9"))
    table = Decision("row-filter", None, "", None, filters)
    columns = named_columns(("t",), [NUMBER])
    found = restrictions(table, [(columns[0], table)], "ann")["required-row-filter"]
    assert (found["type"], found["left"]["type"], found["right"]["type"]) == ("and", "gt", "and")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("4: email: optional string", Field("email", 4, "string")),
        ("4:email:required long", Field("email", 4, "long", required=True)),
        ("1: a: b: optional decimal(10, 2)", Field("a: b", 1, "decimal")),
        ("2: place: optional struct<3: lat: required double>", Field("place", 2, "struct")),
        ("5: at: optional timestamptz", Field("at", 5, "timestamptz")),
    ],
)
def test_a_field_is_read_as_pyiceberg_prints_it(text: str, field: Field) -> None:
    assert parse_field(text) == field


@pytest.mark.parametrize(
    "text", ["", "email", "x: email: optional string", "0: a: optional int", "4: a: int", "4: : x"]
)
def test_what_is_no_field_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        parse_field(text)


@pytest.mark.parametrize(
    ("attributes", "field"),
    [
        ({"field_id": 4, "data_type": "VARCHAR(20)"}, Field("c", 4, "string")),
        (
            {"field_id": 4, "data_type": "timestamp(6) with time zone", "nullable": False},
            Field("c", 4, "timestamptz", True),
        ),
        ({"field_id": "4", "data_type": 7}, Field("c")),
        ({"field_id": True}, Field("c")),
        ({"field_id": -1}, Field("c")),
        ({}, Field("c")),
    ],
)
def test_a_column_asset_states_its_field(attributes: dict[str, Any], field: Field) -> None:
    assert catalogued_field("c", attributes) == field


def test_columns_that_differ_in_case_are_decided_together() -> None:
    both = merged([Column(Field("Email", 4), ("t.Email",)), Column(Field("email"), ("t.email",))])
    assert [(column.field.id, column.names) for column in both] == [(4, ("t.Email", "t.email"))]
    with pytest.raises(NotExpressible, match="4 and 5"):
        merged([Column(Field("Email", 4), ("t.Email",)), Column(Field("email", 5), ("t.email",))])


def test_of_columns_that_differ_in_case_none_is_null_if_one_must_not_be() -> None:
    required = Column(Field("Email", 4, "int", required=True), ("t.Email",))
    (either,) = merged([required, Column(Field("email", 4, "string"), ("t.email",))])
    assert (either.field.required, either.field.kind) == (True, "")


def test_levels_of_a_namespace_are_separated_by_dots_or_unit_separators() -> None:
    assert split_namespace("accounting\x1ftax.paid") == ("accounting", "tax", "paid")
    assert split_namespace("..") == ()
