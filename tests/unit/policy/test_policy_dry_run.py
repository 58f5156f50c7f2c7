"""What a dry run compares if tags change, and what it reports to have left out."""

from typing import TYPE_CHECKING, Any

import pytest

from lily.api.policy.dry_run import MAX_ASSETS, _reached, change_of, concerned_policies
from lily.api.policy.retagging import Retagging
from lily.model import ids
from lily.policy import Decision, Facts, Policy, Role, parse_policy, parse_row_filter
from lily.policy.masks import Mask

if TYPE_CHECKING:
    from lily.store.postgres.policies.stored_objects import Parsed


def test_tags_are_applied_to_the_facts_of_an_asset() -> None:
    retagging = Retagging({"x": {"pii"}}, {"x": {"draft"}, "y": {"pii"}})
    facts = Facts("x", "shop.x", "table", "shop", (), ["draft", "finance"], {"owner": "ann"})
    after = retagging.applied(facts)
    assert set(after.tags) == {"pii", "finance"}
    assert (after.qualified_name, after.data_source, after.attributes) == ("shop.x", "shop", {"owner": "ann"})
    untouched = Facts("z", tags=["pii"])
    assert retagging.applied(untouched) is untouched


def test_assets_that_gain_or_lose_a_tag_are_compared_once_and_up_to_a_limit() -> None:
    named = ids.asset_id("default", "shop.orders")
    reached = [f"00000000-0000-8000-8000-{number:012}" for number in range(MAX_ASSETS + 5)]
    cut: list[str] = []
    few = Retagging({named: {"pii"}, reached[0]: {"pii"}}, {reached[0]: {"draft"}})
    assert _reached("default", few, ["shop.orders"], cut) == [reached[0]]
    assert cut == []
    many = Retagging({asset: {"pii"} for asset in reached})
    assert _reached("default", many, ["shop.orders"], cut) == reached[:MAX_ASSETS]
    (reported,) = cut
    assert reported.startswith(f"assets: the first {MAX_ASSETS} of {MAX_ASSETS + 5} that gain or lose a tag")


def decision(effect: Any, mask: Mask | None = None, row_filter: str = "") -> Decision:
    return Decision(effect, "p", "because", mask, (parse_row_filter(row_filter),) if row_filter else ())


LAST, FIRST = Mask("show-last-4"), Mask("show-first-4")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (decision("deny"), decision("allow"), "gains"),
        (decision("deny"), decision("mask", LAST), "gains"),
        (decision("row-filter", row_filter="a = 1"), decision("deny"), "loses"),
        (decision("allow"), decision("row-filter", row_filter="a = 1"), "changes"),
        (decision("row-filter", row_filter="a = 1"), decision("row-filter", row_filter="a = 2"), "changes"),
        (decision("mask", LAST), decision("mask", FIRST), "changes"),
        (decision("mask", LAST), decision("mask", LAST, "a = 1"), "changes"),
        (decision("mask", LAST, "a = 1"), decision("mask", LAST, "a = 1"), None),
        (decision("deny"), decision("deny"), None),
    ],
)
def test_a_change_is_also_another_mask_or_another_row_filter(
    before: Decision, after: Decision, expected: str | None
) -> None:
    assert change_of(before, after) == expected


def policy(role: str) -> Policy:
    body = {
        "name": role,
        "subjects": [{"role": role}],
        "resources": [{"asset": "*"}],
        "actions": ["READ"],
        "effect": "allow",
    }
    return parse_policy(body, tenant="t", policy_id=role)


def test_a_role_that_changes_concerns_the_policies_of_all_roles_that_it_inherits_or_inherited() -> None:
    policies: dict[tuple[str, str], Parsed] = {("policy", role): policy(role) for role in ("a", "b", "c", "d", "e")}
    roles: dict[tuple[str, str], Parsed] = {("role", "b"): Role("B", ("C",)), ("role", "e"): Role("e", ("a",))}
    before = policies | roles | {("role", "a"): Role("A", ("B",))}
    after = policies | roles | {("role", "a"): Role("A", ("D",))}
    assert {one.name for one in concerned_policies(before, after)} == {"a", "b", "c", "d"}
    assert concerned_policies(before, before) == []
