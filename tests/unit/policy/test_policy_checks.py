"""Checks of a request: what they share, how unknown objects are decided, and which of several assets counts."""

from typing import Any

import pytest

from lily.api.policy.checks import Batch, parse_checks
from lily.api.policy.outcomes import strictest
from lily.api.policy.settings import AccessSettings
from lily.policy import Facts, PolicyIndex, Principal, User, compile_policies, parse_policy
from lily.policy.decisions import DISABLED

UPPER, LOWER = (Facts(f"00000000-0000-8000-8000-00000000000{n}", name) for n, name in enumerate(("T", "t")))
CHECK = {"principal": "ann", "action": "READ", "asset_id": "x"}


def index(*policies: tuple[str, str]) -> PolicyIndex:
    """Policies for everyone, from pairs of effect and asset."""
    bodies = [
        {
            "name": f"{effect} {asset}",
            "subjects": [{"user": "*"}],
            "resources": [{"asset": asset}],
            "actions": ["READ"],
            "effect": effect,
            **({"mask": "replace-with-null"} if effect == "mask" else {}),
            **({"row_filter": "a = 1"} if effect == "row-filter" else {}),
        }
        for effect, asset in policies
    ]
    return compile_policies(
        "t", [parse_policy(body, tenant="t", policy_id=str(number)) for number, body in enumerate(bodies)]
    )


def effects(compiled: PolicyIndex, settings: AccessSettings, *facts: Facts) -> list[str]:
    batch = parse_checks([CHECK])
    return [one.effect for one in strictest(compiled, settings, batch, [Principal("ann")], {"x": list(facts)})]


@pytest.mark.parametrize(
    ("effect", "expected"), [("deny", "deny"), ("mask", "mask"), ("row-filter", "row-filter"), ("allow", "allow")]
)
@pytest.mark.parametrize("facts", [(UPPER, LOWER), (LOWER, UPPER)])
def test_of_several_assets_the_stricter_decision_holds(facts: tuple[Facts, ...], effect: str, expected: str) -> None:
    compiled = index(("allow", "*"), (effect, UPPER.id))
    assert effects(compiled, AccessSettings(), *facts) == [expected]


@pytest.mark.parametrize(
    ("policies", "closed", "opened"),
    [
        ([], "deny", "allow"),
        ([("allow", "*")], "deny", "allow"),
        ([("allow", "*"), ("mask", "*")], "deny", "mask"),
        ([("deny", "*")], "deny", "deny"),
    ],
)
def test_an_unknown_object_is_denied_unless_the_tenant_opens_it(
    policies: list[tuple[str, str]], closed: str, opened: str
) -> None:
    assert effects(index(*policies), AccessSettings()) == [closed]
    assert effects(index(*policies), AccessSettings(unknown_objects="open")) == [opened]


def test_an_open_tenant_opens_nothing_to_a_disabled_user() -> None:
    (decision,) = strictest(
        index(),
        AccessSettings(unknown_objects="open"),
        parse_checks([CHECK]),
        [Principal("ann", disabled=True)],
        {"x": []},
    )
    assert (decision.effect, decision.reason) == ("deny", DISABLED)


@pytest.mark.parametrize("facts", [(UPPER, LOWER), (LOWER, UPPER)])
def test_of_several_assets_the_row_filters_of_all_apply(facts: tuple[Facts, ...]) -> None:
    compiled = index(("allow", "*"), ("mask", UPPER.id), ("row-filter", LOWER.id))
    (decision,) = strictest(compiled, AccessSettings(), parse_checks([CHECK]), [Principal("ann")], {"x": list(facts)})
    assert (decision.effect, [one.sql for one in decision.row_filters]) == ("mask", ["a = 1"])


def stated(*checks: dict[str, Any]) -> Batch:
    return parse_checks([CHECK | check for check in checks])


def test_checks_share_a_context_only_if_all_of_it_is_the_same() -> None:
    office = {"address": "10.0.0.1", "purpose": "billing", "time": "2026-01-01T00:00:00Z"}
    others = [
        office | other for other in ({"address": "10.0.0.2"}, {"purpose": "research"}, {"time": "2026-01-02T00:00:00Z"})
    ]
    batch = stated(*({"context": context} for context in (office, dict(reversed(office.items())), *others)))
    used = [batch.contexts[check.context] for check in batch.checks]
    assert used[0] is used[1]
    assert len({id(context) for context in used}) == 4
    assert [(one.address, one.purpose) for one in used[1:]] == [
        ("10.0.0.1", "billing"),
        ("10.0.0.2", "billing"),
        ("10.0.0.1", "research"),
        ("10.0.0.1", "billing"),
    ]


def test_a_principal_has_its_own_groups_and_roles_and_those_of_the_stored_user() -> None:
    batch = stated({"principal": {"user": "Ann", "groups": ["g"], "roles": ["r"]}}, {"principal": "bob"})
    found = [named.principal({"ann": User("ann", ("stored-role",), ("stored-group",))}) for named in batch.principals]
    assert [(one.groups, one.roles) for one in found] == [
        (("g", "stored-group"), ("r", "stored-role")),
        ((), ()),
    ]
