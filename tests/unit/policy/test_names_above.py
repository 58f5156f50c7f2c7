"""What an asset is below by its name, where nothing states a parent."""

from typing import Any

import pytest

from lily.model import ids
from lily.policy import Ancestor, Facts, Principal, compile_policies, parse_policy
from lily.policy.candidates import unknown_facts
from lily.policy.names_above import FARTHEST, NEAREST, names_above

ANN = Principal("ann")


def above(name: str, *ancestors: str) -> list[str]:
    stated = [Ancestor(ids.asset_id("t", one), one) for one in ancestors]
    found = names_above("t", name, stated)
    assert all(one.id == ids.asset_id("t", one.qualified_name) for one in found)
    return [one.qualified_name for one in found]


@pytest.mark.parametrize(
    ("name", "ancestors", "expected"),
    [
        ("hr.public.grades", [], ["hr.public", "hr"]),
        ("hr.public.grades", ["elsewhere"], []),
        ("hr.public.grades", ["hr.public"], ["hr"]),
        ("hr.public.grades.id", ["hr.public.grades", "hr.public", "hr"], []),
        ("s3://bucket/a/b", [], ["s3://bucket/a", "s3://bucket", "s3:/", "s3:"]),
        ("plain", [], []),
        ("", [], []),
    ],
)
def test_names_above_begin_at_the_highest_stated_ancestor(name: str, ancestors: list[str], expected: list[str]) -> None:
    assert above(name, *ancestors) == expected


@pytest.mark.parametrize("known", [[], ["hr.public.grades"]])
@pytest.mark.parametrize(("highest", "expected"), [("elsewhere", []), ("hr.public", ["hr"]), ("hr", [])])
def test_a_highest_ancestor_of_which_only_the_id_is_known_is_found_by_the_name(
    known: list[str], highest: str, expected: list[str]
) -> None:
    ancestors = [*(Ancestor(ids.asset_id("t", one), one) for one in known), Ancestor(ids.asset_id("t", highest))]
    found = names_above("t", "hr.public.grades.id", ancestors)
    assert [one.qualified_name for one in found] == expected


def test_a_name_of_many_parts_has_a_limit() -> None:
    assert len(above(".".join("a" * 500))) <= NEAREST + FARTHEST + 1


def decided(facts: Facts, **resource: Any) -> tuple[str, str]:
    body = {"name": "p", "subjects": [{"user": "*"}], "resources": [resource], "actions": ["READ"], "effect": "deny"}
    index = compile_policies("t", [parse_policy(body, tenant="t", policy_id="p")], [])
    found = index.explain(ANN, "READ", facts, plane="metadata")
    return found.decision.effect, next((match.resource_found for match in found.matches), "")


@pytest.mark.parametrize("named", ["hr", "HR.Public", ids.asset_id("t", "hr.public")])
def test_a_policy_about_a_schema_covers_a_table_without_a_parent_and_says_why(named: str) -> None:
    stated = Facts("x", "hr.public.grades", "table", names_above=names_above("t", "hr.public.grades", ()))
    for facts in (stated, unknown_facts("t", "hr.public.grades")):
        effect, why = decided(facts, asset=named)
        assert (effect, why.startswith("its name, which is below hr")) == ("deny", True)
    assert decided(unknown_facts("t", "hrx.public.grades"), asset=named)[0] == "allow"
