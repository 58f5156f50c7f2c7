"""Policies, roles, users and scraper policies as the API takes them: what is accepted, and what each error reports."""

from typing import Any

import pytest

from lily.model.errors import Refused
from lily.model.ids import asset_id
from lily.policy import (
    MASK_ACTIONS,
    Mask,
    Role,
    User,
    parse_policy,
    parse_role,
    parse_scraper_policy,
    parse_user,
    refuse_role_cycle,
    role_cycle,
    stored_policy,
)

BODY: dict[str, Any] = {
    "name": "readers of the shop",
    "subjects": [{"role": "Reader"}],
    "resources": [{"asset": "shop.public"}],
    "actions": ["READ"],
    "effect": "allow",
}
MASK = BODY | {"effect": "mask", "mask": "show-last-4"}
FILTER = BODY | {"effect": "row-filter", "row_filter": "country = 'DE'"}


def parsed(**changes: Any) -> Any:
    body = {field: value for field, value in (BODY | changes).items() if value is not ...}
    return parse_policy(body, tenant="t", policy_id="p1")


def problems(data: Any) -> list[tuple[str, str]]:
    with pytest.raises(Refused) as refused:
        parse_policy(data, tenant="t", policy_id="p1")
    return [(problem.code, problem.entity) for problem in refused.value.problems]


def message(data: Any) -> str:
    with pytest.raises(Refused) as refused:
        parse_policy(data, tenant="t", policy_id="p1")
    return str(refused.value)


def test_the_least_policy_has_priority_0_and_applies_to_both_planes() -> None:
    policy = parsed()
    assert (policy.id, policy.priority, policy.applies_to) == ("p1", 0, ("metadata", "data"))
    assert policy.as_dict() == BODY | {"priority": 0, "applies_to": ["metadata", "data"]}


def test_an_asset_by_name_is_found_by_its_id_and_by_its_name_without_case() -> None:
    (resource,) = parsed(resources=[{"asset": "Shop.Public.Orders"}]).resources
    assert resource.keys == (f"i:{asset_id('t', 'Shop.Public.Orders')}", "n:shop.public.orders")


def test_an_asset_by_id_is_found_by_its_id_alone() -> None:
    asset = asset_id("t", "shop")
    (resource,) = parsed(resources=[{"asset": asset.upper()}]).resources
    assert resource.keys == (f"i:{asset}",)


def test_a_policy_is_the_same_after_it_was_shown_and_parsed_again() -> None:
    given = parsed(
        subjects=[{"user": "Zoë"}, {"group": "HR"}, {"role": "*"}],
        resources=[{"tag": "PII"}, {"entity_type": "Table"}, {"data_source": "*"}, {"asset": "*"}],
        actions=["DELETE", "read"],
        effect="deny",
        conditions={"weekdays": ["Mon"], "networks": ["10.0.0.0/8"], "attributes": {"asset": {"domain": ["a", 1]}}},
        priority=-5,
        applies_to=["data"],
    )
    again = parse_policy(given.as_dict(), tenant="t", policy_id="p1")
    assert again.as_dict() == given.as_dict()
    assert given.actions == ("READ", "DELETE")


@pytest.mark.parametrize("action", MASK_ACTIONS)
def test_each_of_the_nine_masks_is_accepted(action: str) -> None:
    assert parsed(effect="mask", mask=action).mask == Mask(action)  # type: ignore[arg-type]
    assert parsed(effect="mask", mask={"action": action}).mask == Mask(action)  # type: ignore[arg-type]


def test_a_fixed_value_is_kept() -> None:
    policy = parsed(effect="mask", mask={"action": "mask-to-fixed-value", "value": "xxx"})
    assert policy.mask == Mask("mask-to-fixed-value", "xxx")
    assert policy.as_dict()["mask"] == {"action": "mask-to-fixed-value", "value": "xxx"}


def test_a_row_filter_is_stored_in_its_canonical_form() -> None:
    assert (
        parsed(**FILTER | {"row_filter": "country='DE'   and x in (1)"}).row_filter.sql == "country = 'DE' AND x IN (1)"
    )


def test_a_stored_policy_does_not_parse_its_row_filter_until_it_is_rendered() -> None:
    policy = stored_policy(FILTER | {"row_filter": "1; drop table x"}, tenant="t", policy_id="p1")
    assert policy.row_filter is not None
    with pytest.raises(Refused, match="semicolon"):
        policy.row_filter.render("trino")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([], [("INVALID_TYPE", "")]),
        ("policy", [("INVALID_TYPE", "")]),
        ({**BODY, "name": None, "effect": None}, [("MISSING_FIELD", "name"), ("MISSING_FIELD", "effect")]),
        (BODY | {"subjects": None}, [("MISSING_FIELD", "subjects")]),
        (BODY | {"resources": None}, [("MISSING_FIELD", "resources")]),
        (BODY | {"name": ""}, [("INVALID_VALUE", "name")]),
        (BODY | {"name": "*"}, [("INVALID_VALUE", "name")]),
        (BODY | {"name": 1}, [("INVALID_TYPE", "name")]),
        (BODY | {"efect": "deny"}, [("UNKNOWN_FIELD", "efect")]),
        (BODY | {"id": "mine"}, [("UNKNOWN_FIELD", "id")]),
        (BODY | {"subjects": []}, [("INVALID_TYPE", "subjects")]),
        (BODY | {"subjects": {"user": "ann"}}, [("INVALID_TYPE", "subjects")]),
        (BODY | {"subjects": ["ann"]}, [("INVALID_TYPE", "subjects[0]")]),
        (BODY | {"subjects": [{"user": "a", "role": "b"}]}, [("INVALID_TYPE", "subjects[0]")]),
        (BODY | {"subjects": [{"users": "a"}]}, [("UNKNOWN_FIELD", "subjects[0].users")]),
        (BODY | {"subjects": [{"user": None}]}, [("INVALID_TYPE", "subjects[0].user")]),
        (BODY | {"subjects": [{"user": " "}]}, [("INVALID_VALUE", "subjects[0].user")]),
        (BODY | {"subjects": [{"user": "a\x00"}]}, [("INVALID_VALUE", "subjects[0].user")]),
        (BODY | {"subjects": [{"user": "a"}] * 501}, [("INVALID_TYPE", "subjects")]),
        (BODY | {"resources": [{"table": "x"}]}, [("UNKNOWN_FIELD", "resources[0].table")]),
        (BODY | {"resources": [{"entity_type": "tabel"}]}, [("UNKNOWN_ENTITY_TYPE", "resources[0].entity_type")]),
        (BODY | {"resources": [{"tag": "x" * 129}]}, [("TOO_LONG", "resources[0].tag")]),
        (BODY | {"actions": []}, [("INVALID_TYPE", "actions")]),
        (BODY | {"actions": "READ"}, [("INVALID_TYPE", "actions")]),
        (BODY | {"actions": ["READ", "REED", 1]}, [("INVALID_VALUE", "actions[1]"), ("INVALID_VALUE", "actions[2]")]),
        (BODY | {"effect": "Allow"}, [("INVALID_VALUE", "effect")]),
        (BODY | {"effect": ["allow"]}, [("INVALID_VALUE", "effect")]),
        (BODY | {"priority": "high"}, [("INVALID_VALUE", "priority")]),
        (BODY | {"priority": True}, [("INVALID_VALUE", "priority")]),
        (BODY | {"priority": 1.5}, [("INVALID_VALUE", "priority")]),
        (BODY | {"priority": 10**7}, [("INVALID_VALUE", "priority")]),
        (BODY | {"applies_to": []}, [("INVALID_TYPE", "applies_to")]),
        (BODY | {"applies_to": ["rows"]}, [("INVALID_VALUE", "applies_to[0]")]),
        (BODY | {"mask": "show-last-4"}, [("INVALID_VALUE", "mask")]),
        (BODY | {"row_filter": "a = 1"}, [("INVALID_VALUE", "row_filter")]),
        (BODY | {"effect": "mask"}, [("MISSING_FIELD", "mask")]),
        (BODY | {"effect": "row-filter"}, [("MISSING_FIELD", "row_filter")]),
        (MASK | {"row_filter": "a = 1"}, [("INVALID_VALUE", "row_filter")]),
        (MASK | {"mask": "show-last-5"}, [("INVALID_VALUE", "mask.action")]),
        (MASK | {"mask": ["show-last-4"]}, [("INVALID_TYPE", "mask")]),
        (MASK | {"mask": {}}, [("INVALID_VALUE", "mask.action")]),
        (MASK | {"mask": {"action": "show-last-4", "value": "x"}}, [("INVALID_VALUE", "mask.value")]),
        (MASK | {"mask": {"action": "mask-to-fixed-value", "value": []}}, [("INVALID_TYPE", "mask.value")]),
        (MASK | {"mask": {"action": "mask-to-fixed-value", "value": "x" * 513}}, [("TOO_LONG", "mask.value")]),
        (MASK | {"mask": {"action": "mask-to-fixed-value", "val": "x"}}, [("UNKNOWN_FIELD", "mask.val")]),
        (MASK | {"applies_to": ["metadata"]}, [("INVALID_VALUE", "applies_to")]),
        (MASK | {"actions": ["READ", "WRITE"]}, [("INVALID_VALUE", "actions")]),
        (FILTER | {"row_filter": 1}, [("INVALID_TYPE", "row_filter")]),
        (FILTER | {"row_filter": "a in (select 1)"}, [("INVALID_ROW_FILTER", "row_filter")]),
        (FILTER | {"applies_to": ["metadata"]}, [("INVALID_VALUE", "applies_to")]),
        (BODY | {"conditions": {"weekdays": ["noday"]}}, [("INVALID_VALUE", "conditions.weekdays[0]")]),
    ],
)  # fmt: skip
def test_a_bad_policy_is_refused_with_the_field(data: Any, expected: list[tuple[str, str]]) -> None:
    assert problems(data) == expected


def test_every_problem_is_reported_at_once() -> None:
    found = problems({"name": "x", "subjects": [{"usr": "a"}], "resources": [{"tag": ""}], "actions": ["R"], "x": 1})
    assert [entity for _, entity in found] == ["x", "subjects[0].usr", "resources[0].tag", "actions[0]", "effect"]


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (BODY | {"prioritty": 1}, "did you mean `priority`?"),
        (BODY | {"effect": "denny"}, "did you mean `deny`?"),
        (BODY | {"actions": ["reed"]}, "did you mean `READ`?"),
        (BODY | {"actions": ["SELECT"]}, "use one of: DELETE, READ, WRITE"),
        (BODY | {"subjects": [{"Grup": "x"}]}, "did you mean `group`?"),
        (BODY | {"resources": [{"entity_type": "colum"}]}, "did you mean `column`?"),
        (MASK | {"mask": "show-last4"}, "did you mean `show-last-4`?"),
        (BODY | {"conditions": {"network": ["10.0.0.0/8"]}}, "did you mean `networks`?"),
    ],
)
def test_a_typing_error_gets_a_hint(data: Any, hint: str) -> None:
    assert hint in message(data)


def test_a_role_and_a_user_are_parsed() -> None:
    assert parse_role({"name": "Admin", "inherits": ["reader", "Reader"]}) == Role("Admin", ("reader",))
    assert parse_role({"name": "Admin", "groups": ["it"]}) == Role("Admin", (), ("it",))
    assert parse_user({"name": "ann", "roles": ["a"], "groups": ["g"]}) == User("ann", ("a",), ("g",))


@pytest.mark.parametrize("parse", [parse_role, parse_user])
@pytest.mark.parametrize(
    ("data", "entity"),
    [
        ({}, "name"),
        ({"name": "*"}, "name"),
        ({"name": "x", "groups": "g"}, "groups"),
        ({"name": "x", "groups": ["*"]}, "groups"),
        ({"name": "x", "groups": [1]}, "groups[0]"),
        ({"name": "x", "rolls": []}, "rolls"),
    ],
)
def test_a_bad_role_or_user_is_refused(parse: Any, data: Any, entity: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(data)
    assert [problem.entity for problem in refused.value.problems] == [entity]


def test_a_role_cannot_inherit_from_itself_in_any_case() -> None:
    with pytest.raises(Refused, match="inherits from itself"):
        parse_role({"name": "Admin", "inherits": ["ADMIN"]})


def test_a_cycle_of_roles_is_reported_with_its_names() -> None:
    roles = [Role("start", ("A",)), Role("A", ("b",)), Role("B", ("c", "d")), Role("d"), Role("C", ("a",))]
    assert role_cycle(roles) == ("A", "B", "C", "A")
    with pytest.raises(Refused, match="A → B → C → A"):
        refuse_role_cycle(roles)


def test_several_ways_to_one_role_are_no_cycle() -> None:
    roles = [Role("a", ("b", "c", "missing")), Role("b", ("d",)), Role("c", ("d",)), Role("d")]
    assert role_cycle(roles) == ()
    refuse_role_cycle(roles)


def test_a_long_chain_of_roles_is_no_problem() -> None:
    chain = [Role(f"r{number}", (f"r{number + 1}",)) for number in range(5_000)]
    assert role_cycle(chain) == ()
    assert len(role_cycle([*chain, Role("r5000", ("r0",))])) == 5_002


@pytest.mark.parametrize(
    ("data", "entities"),
    [
        ({}, ["name", "scraper_group", "sources"]),
        ({"name": "x", "scraper_group": "*", "sources": ["a"]}, ["scraper_group"]),
        ({"name": "x", "scraper_group": "g", "sources": []}, ["sources"]),
        ({"name": "x", "scraper_group": "g", "entity_types": ["tables!"]}, ["entity_types[0]"]),
        ({"name": "x", "scraper_group": "g", "columns": ["a"], "sources": ["a"]}, ["columns"]),
        ({"name": "x", "scraper_group": "g", "allowed_columns": "a"}, ["allowed_columns"]),
    ],
)
def test_a_bad_scraper_policy_is_refused(data: Any, entities: list[str]) -> None:
    with pytest.raises(Refused) as refused:
        parse_scraper_policy(data, policy_id="s1")
    assert [problem.entity for problem in refused.value.problems] == entities
