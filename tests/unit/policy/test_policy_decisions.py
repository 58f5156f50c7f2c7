"""Decisions by example: deny first, the two planes, masks, row filters, roles, tags and the hierarchy."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from lily.model.ids import asset_id
from lily.policy import (
    Ancestor,
    Check,
    Context,
    Decision,
    DuplicateNames,
    Facts,
    Mask,
    Plane,
    Policy,
    PolicyIndex,
    Principal,
    Role,
    User,
)
from tests.policy_examples import EMAIL, ORDERS, PUBLIC, SHOP, index, policy
from tests.policy_oracle import MASKS

ANN, NOBODY = Principal("ann"), Principal()


def read(compiled: PolicyIndex, facts: Facts = ORDERS, who: Principal = ANN, plane: Plane = "data") -> Decision:
    return compiled.decide(who, "READ", facts, plane=plane)


def test_without_policies_data_is_denied_and_metadata_is_allowed() -> None:
    assert read(index()) == Decision("deny", None, "no policy allows READ of its data")
    assert read(index(), plane="metadata") == Decision("allow", None, "no policy denies READ of its metadata")


def test_an_allow_is_reported_with_its_policy() -> None:
    assert read(index(policy("readers"))) == Decision("allow", "readers", "policy 'readers' allows READ")


def test_an_allow_of_one_action_is_not_one_of_another() -> None:
    compiled = index(policy("readers", actions=["READ", "DELETE"]))
    assert compiled.decide(ANN, "DELETE", ORDERS).allowed
    assert not compiled.decide(ANN, "WRITE", ORDERS).allowed


def test_a_deny_wins_whatever_the_priorities() -> None:
    compiled = index(policy("yes", priority=100), policy("no", "deny", priority=-100))
    assert read(compiled) == Decision("deny", "no", "policy 'no' denies READ")
    assert read(compiled, plane="metadata").effect == "deny"


def test_of_several_denials_the_first_is_reported_even_if_a_later_one_has_conditions() -> None:
    until = {"time": {"not_after": "2126-01-01T00:00:00Z"}}
    sure, later = policy("sure", "deny", priority=2), policy("later", "deny", priority=1, conditions=until)
    assert read(index(sure, later)).policy_id == "sure"
    assert read(index(policy("sure", "deny"), later)).policy_id == "later"


def test_applies_to_limits_a_policy_to_its_plane() -> None:
    compiled = index(policy("yes"), policy("no", "deny", applies_to=["metadata"]))
    assert read(compiled).allowed
    assert not read(compiled, plane="metadata").allowed


def test_mask_and_row_filter_never_grant() -> None:
    compiled = index(policy("m", "mask", mask="show-last-4"), policy("f", "row-filter", row_filter="a = 1"))
    assert read(compiled).effect == "deny"


def test_masks_and_row_filters_do_not_apply_to_metadata() -> None:
    compiled = index(policy("m", "mask", mask="show-last-4"), policy("f", "row-filter", row_filter="a = 1"))
    assert read(compiled, plane="metadata").effect == "allow"


def test_every_row_filter_applies_beside_one_mask() -> None:
    compiled = index(
        policy("yes"),
        policy("m", "mask", mask="show-last-4"),
        policy("f1", "row-filter", row_filter="country = 'DE'"),
        policy("f2", "row-filter", row_filter="amount < 10", priority=5),
    )
    decision = read(compiled)
    assert (decision.effect, decision.policy_id, decision.mask) == ("mask", "m", Mask("show-last-4"))
    assert [one.sql for one in decision.row_filters] == ["amount < 10", "country = 'DE'"]


def test_row_filters_alone_are_reported_by_the_highest_priority() -> None:
    filters = [policy(f"f{n}", "row-filter", row_filter=f"a = {n}", priority=n) for n in (1, 2)]
    decision = read(index(policy("yes"), *filters))
    assert decision == Decision(
        "row-filter", "f2", "policies 'f2', 'f1' filter its rows", None, (filters[1].row_filter, filters[0].row_filter)  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_mask_of_the_highest_priority_applies() -> None:
    strict, weak = (
        policy("strict", "mask", mask="replace-with-null"),
        policy("weak", "mask", mask="show-first-4", priority=1),
    )
    assert read(index(policy("yes"), strict, weak)).policy_id == "weak"


def test_of_masks_with_one_priority_the_strictest_applies_and_then_the_smaller_id() -> None:
    masks = [policy("a", "mask", mask="show-last-4"), policy("c", "mask", mask="sha-256-global")]
    same = policy("b", "mask", mask="sha-256-global")
    assert read(index(policy("yes"), *masks, same)).policy_id == "b"


@pytest.mark.parametrize(("strict", "weak"), list(pairwise(MASKS)))
def test_of_two_masks_with_one_priority_the_one_that_leaves_less_applies(strict: str, weak: str) -> None:
    masks = policy("a", "mask", mask=weak), policy("b", "mask", mask=strict)
    assert read(index(policy("yes"), *masks)).policy_id == "b"


def test_an_asset_covers_its_descendants_but_not_its_ancestors() -> None:
    compiled = index(policy("p", resources=[{"asset": "shop.public.orders"}]))
    public = Facts(PUBLIC.id, PUBLIC.qualified_name, "schema", ancestors=(SHOP,))
    assert [read(compiled, facts).allowed for facts in (EMAIL, ORDERS, public)] == [True, True, False]


@pytest.mark.parametrize("written", ["shop.public.orders", "SHOP.Public.Orders", asset_id("t", "shop.public.orders")])
def test_an_asset_is_named_by_id_or_by_name_in_any_case(written: str) -> None:
    assert read(index(policy("p", resources=[{"asset": written}])), EMAIL).allowed


def test_an_ancestor_whose_name_is_not_known_is_found_by_its_id() -> None:
    column = Facts("c", ancestors=(Ancestor(ORDERS.id),))
    assert read(index(policy("p", resources=[{"asset": "shop.public.orders"}])), column).allowed


@pytest.mark.parametrize(
    ("resource", "orders", "email"),
    [
        ({"tag": "pii"}, False, True),
        ({"tag": "*"}, False, True),
        ({"entity_type": "Column"}, False, True),
        ({"entity_type": "*"}, True, True),
        ({"data_source": "WAREHOUSE"}, True, True),
        ({"data_source": "*"}, True, True),
        ({"data_source": "crm"}, False, False),
        ({"asset": "shop"}, True, True),
        ({"asset": "sho"}, False, False),
    ],
)
def test_resources(resource: dict[str, str], orders: bool, email: bool) -> None:  # noqa: FBT001
    compiled = index(policy("p", resources=[resource]))
    assert (read(compiled, ORDERS).allowed, read(compiled, EMAIL).allowed) == (orders, email)


def test_any_source_does_not_match_an_asset_without_one() -> None:
    assert not read(index(policy("p", resources=[{"data_source": "*"}])), Facts("x", "x")).allowed


def test_everyone_includes_a_token_without_a_user() -> None:
    assert read(index(policy("p", subjects=[{"user": "*"}])), who=NOBODY).allowed


def test_a_principal_without_user_groups_and_roles_matches_nothing_else() -> None:
    compiled = index(*(policy(kind, subjects=[{kind: "x"}]) for kind in ("user", "group", "role")))
    assert not read(compiled, who=NOBODY).allowed


def test_kinds_of_subjects_do_not_mix() -> None:
    compiled = index(policy("p", subjects=[{"role": "hr"}]))
    assert not read(compiled, who=Principal("hr", ["hr"])).allowed


def test_a_user_called_star_is_not_everyone() -> None:
    compiled = index(policy("p", subjects=[{"user": "ann"}]))
    assert not read(compiled, who=Principal("*", ["*"], ["*"])).allowed


def test_groups_and_roles_come_from_the_table_and_from_the_request() -> None:
    compiled = index(
        policy("by-group", subjects=[{"group": "HR"}], actions=["READ"]),
        policy("by-role", subjects=[{"role": "Writer"}], actions=["WRITE"]),
        users=[User("Ann", ("writer",), ("hr",))],
    )
    for who in (Principal("ANN"), Principal("x", ["hR"], ["WRITER"])):
        assert compiled.decide(who, "READ", ORDERS).allowed
        assert compiled.decide(who, "WRITE", ORDERS).allowed


def test_roles_inherit_from_several_and_groups_give_roles() -> None:
    roles = [Role("lead", ("reader", "Writer")), Role("reader", ("base",)), Role("staff", ("lead",), ("Eng",))]
    compiled = index(policy("p", subjects=[{"role": "BASE"}]), roles=roles)
    assert read(compiled, who=Principal("x", ["eng"])).allowed
    assert read(compiled, who=Principal("x", roles=["lead"])).allowed
    assert not read(compiled, who=Principal("x", roles=["writer"])).allowed


def test_a_cycle_of_roles_does_no_harm() -> None:
    roles = [Role("a", ("b",)), Role("b", ("a", "c"))]
    compiled = index(policy("p", subjects=[{"role": "c"}]), roles=roles)
    assert read(compiled, who=Principal("x", roles=["a"])).allowed


def test_a_policy_may_name_a_role_that_does_not_exist_yet() -> None:
    before = policy("p", subjects=[{"role": "later"}])
    assert not read(index(before)).allowed
    assert read(index(before, users=[User("ann", ("later",))])).allowed


def test_an_unknown_condition_stops_an_allow_and_nothing_else() -> None:
    office = {"networks": ["10.0.0.0/8"]}
    elsewhere, unknown, inside = (Context(address=address) for address in ("11.0.0.1", None, "10.0.0.1"))

    def effects(*policies: Policy) -> list[str]:
        return [
            index(*policies).decide(ANN, "READ", ORDERS, context).effect for context in (elsewhere, unknown, inside)
        ]

    yes = policy("yes")
    assert effects(policy("p", conditions=office)) == ["deny", "deny", "allow"]
    assert effects(yes, policy("p", "deny", conditions=office)) == ["allow", "deny", "deny"]
    assert effects(yes, policy("p", "mask", mask="show-last-4", conditions=office)) == ["allow", "mask", "mask"]
    assert effects(yes, policy("p", "row-filter", row_filter="a = 1", conditions=office)) == ["allow"] + 2 * [
        "row-filter"
    ]


def test_one_context_serves_principals_with_different_attributes() -> None:
    compiled = index(policy("p", conditions={"attributes": {"principal": {"team": "hr"}}}))
    context = Context(datetime(2026, 3, 2, tzinfo=UTC))
    people = [Principal("ann", attributes={"team": team}) for team in ("hr", "it", "hr")]
    decisions = compiled.decide_batch([Check(who, "READ", ORDERS, context) for who in people])
    assert [decision.allowed for decision in decisions] == [True, False, True]


def test_names_that_differ_only_in_case_are_refused_when_compiling() -> None:
    with pytest.raises(DuplicateNames, match="two users"):
        index(users=[User("ann"), User("Ann")])
    with pytest.raises(DuplicateNames, match="two roles"):
        index(roles=[Role("a"), Role("A")])
    with pytest.raises(DuplicateNames, match="the id 'p'"):
        index(policy("p"), policy("p"))


def test_principals_with_separators_in_their_names_do_not_share_policies() -> None:
    compiled = index(policy("p", subjects=[{"group": "b"}]))
    assert read(compiled, who=Principal("a", ["b"])).allowed
    for tricky in (
        Principal("a', ('b',), ())"),
        Principal("a", ["b', 'c"]),
        Principal("a\x00b"),
        Principal("", roles=["b"]),
    ):
        assert not read(compiled, who=tricky).allowed


def test_more_principals_and_combinations_than_are_kept_are_still_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lily.policy.index.MAX_PRINCIPALS", 3)
    monkeypatch.setattr("lily.policy.index.MAX_TABLES", 2)
    monkeypatch.setattr("lily.policy.tables.MAX_DECISIONS", 2)
    compiled = index(*(policy(f"p{n}", subjects=[{"user": f"u{n}"}], resources=[{"tag": f"t{n}"}]) for n in range(8)))
    for _ in range(2):
        for number in range(8):
            who = Principal(f"u{number}")
            allowed = [read(compiled, Facts("x", tags=[f"t{other}"]), who).allowed for other in range(8)]
            assert allowed == [other == number for other in range(8)]


def test_an_index_reports_the_tags_and_attributes_that_its_policies_name() -> None:
    conditions = {"attributes": {"asset": {"domain": "hr", "owner": "ann"}, "principal": {"team": "hr"}}}
    compiled = index(
        policy("a", resources=[{"tag": "PII"}, {"tag": "*"}, {"data_source": "x"}]),
        policy("b", "deny", resources=[{"tag": "pii"}, {"tag": "Finance"}], conditions=conditions),
    )
    assert compiled.named_tags == {"pii", "finance"}
    assert compiled.compared_attributes == {"domain", "owner"}


def test_a_denial_of_higher_priority_is_reported_although_it_has_a_condition() -> None:
    office = {"networks": ["10.0.0.0/8"]}
    denials = policy("certain", "deny"), policy("high", "deny", priority=1, conditions=office)
    low = policy("low", "deny", priority=-1, conditions=office)
    compiled = index(*denials, low)
    decided = [compiled.decide(ANN, "READ", ORDERS, Context(address=one)).policy_id for one in ("10.0.0.1", "11.0.0.1")]
    assert decided == ["high", "certain"]


def test_a_disabled_user_is_denied_on_the_data_plane_alone() -> None:
    compiled = index(policy("readers"))
    for disabled in (False, True, False):
        who = Principal("ann", disabled=disabled)
        (decision,) = compiled.decide_batch([Check(who, "READ", ORDERS)])
        assert decision == read(compiled, who=who)
        assert decision.reason == ("the user is disabled" if disabled else "policy 'readers' allows READ")
        assert read(compiled, who=who, plane="metadata").allowed
