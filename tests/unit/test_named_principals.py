"""The principals of a target that cannot be read."""

from typing import Any

import pytest

from lily.plugins.enforcers import TargetRole
from lily.policy import Policy, User, compile_policies, parse_policy, parse_role
from lily.reactions.enforcement import named_principals as module
from lily.reactions.enforcement.named_principals import TooManyPrincipals, named_principals
from lily.reactions.enforcement.principals import principals_of


def policies(*subjects: dict[str, str], **more: Any) -> list[Policy]:
    stated = {"name": "p", "actions": ["READ"], "resources": [{"asset": "*"}], "effect": "allow", **more}
    return [parse_policy({**stated, "subjects": list(subjects)}, tenant="t", policy_id="p")]


def test_they_are_those_that_policies_about_reading_data_name() -> None:
    named = [
        *policies({"user": "Ann"}, {"user": "ann"}, {"group": "hr"}, {"role": "analyst"}, {"user": "*"}),
        *policies({"user": "writer"}, actions=["WRITE"]),
        *policies({"user": "librarian"}, applies_to=["metadata"]),
    ]
    found = named_principals(named, {}, ())
    assert {(role.name, role.login) for role in found.roles} == {("ann", True), ("analyst", False), ("hr", False)}
    assert found.kinds == {"ann": ("user",), "hr": ("group",), "analyst": ("role",)}


def test_a_group_is_not_the_role_of_its_name() -> None:
    found = named_principals(policies({"group": "analyst"}), {}, ())
    (principal,) = principals_of(found.roles, found.mapped, {}).values()
    assert (principal.groups, principal.roles, principal.user) == (("analyst",), (), "")
    index = compile_policies(
        "t",
        policies({"role": "admin"}),
        [parse_role({"name": "analyst", "inherits": ["admin"]})],
    )
    assert not index.table(principal, "READ", "data").policies


def test_a_name_of_two_kinds_is_ambiguous_until_it_is_mapped() -> None:
    both = policies({"user": "hr"}, {"group": "HR"})
    found = named_principals(both, {}, ())
    assert len(found.ambiguous) == 1
    (name,) = found.ambiguous
    assert found.kinds[name] == ("user", "group", "role")
    assert [(one.subject, "denied" in one.description) for one in found.findings] == [(name, True)]
    stated = named_principals(both, {"hr": {"group": "hr"}}, ())
    assert (stated.ambiguous, stated.kinds, stated.findings) == (frozenset(), {"hr": ("group",)}, ())


def test_one_that_is_mapped_has_the_targets_name_alone() -> None:
    found = named_principals(policies({"role": "analyst"}), {"SF_ANALYST": {"role": "Analyst"}}, ())
    assert found.roles == (TargetRole("SF_ANALYST", login=False),)
    (principal,) = principals_of(found.roles, found.mapped, {}).values()
    assert principal.roles == ("analyst",)


def test_a_name_that_the_target_has_in_another_case_is_not_listed_twice() -> None:
    found = named_principals(policies({"group": "hr"}), {"HR": {"role": "personnel"}}, ())
    assert found.roles == (TargetRole("HR", login=False),)


def test_disabled_users_are_listed_for_the_groups_that_they_are_in() -> None:
    found = named_principals(policies({"group": "hr"}), {}, ["ann"])
    users = {"ann": User("ann", groups=("hr",), disabled=True)}
    assert principals_of(found.roles, found.mapped, users)["ann"].disabled


def test_more_than_decisions_can_list_are_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PRINCIPALS", 2)
    assert named_principals(policies({"user": "a"}), {"b": {"user": "b"}}, ()).roles
    with pytest.raises(TooManyPrincipals, match="groups instead of users"):
        named_principals(policies({"user": "a"}), {"b": {"user": "b"}}, ["c"])
