"""What is decided for a target: names, principals, and decisions that roles share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lily.model.engine_names import EngineMapping
from lily.plugins.enforcers import Decision, Inventory, TargetColumn, TargetRole, TargetTable
from lily.policy import Context, Facts, PolicyIndex, User, compile_policies, parse_policy, parse_role
from lily.policy.candidates import UnknownObjects
from lily.reactions.enforcement.decisions import Deciding, Named, decisions_for, digest, groups_of, named
from lily.reactions.enforcement.principals import principals_of, user_names

TENANT = "t"
PEOPLE = TargetTable(("db", "public", "people"), "table", (TargetColumn("id", "int"), TargetColumn("mail", "text")))
READER, ANN = TargetRole("reader", login=False), TargetRole("ann", member_of=("reader",))


def index(*policies: dict[str, Any]) -> PolicyIndex:
    stated = [{"name": str(n), "actions": ["READ"], **policy} for n, policy in enumerate(policies)]
    return compile_policies(TENANT, [parse_policy(one, tenant=TENANT, policy_id=one["name"]) for one in stated])


def allow(subject: dict[str, str], **resource: str) -> dict[str, Any]:
    return {"subjects": [subject], "resources": [resource or {"asset": "*"}], "effect": "allow"}


def mask(subject: dict[str, str], tag: str = "pii") -> dict[str, Any]:
    return {"subjects": [subject], "resources": [{"tag": tag}], "effect": "mask", "mask": "show-last-4"}


def facts(name: str, *tags: str) -> Facts:
    return Facts(name, name, tags=tags)


def decided(
    policies: PolicyIndex,
    candidates: Mapping[str, Sequence[Facts]],
    *roles: TargetRole,
    unknown: UnknownObjects = "closed",
) -> list[Decision]:
    groups = groups_of(policies, principals_of(roles, {}, {}))
    tables = named(Inventory((PEOPLE,), roles), "shop", ())
    return decisions_for(tables, groups, Deciding(policies, unknown, candidates, Context()))


KNOWN = {
    "db.public.people": [facts("db.public.people")],
    "db.public.people.id": [facts("db.public.people.id")],
    "db.public.people.mail": [facts("db.public.people.mail", "pii")],
}


def test_a_column_has_a_decision_where_it_differs_from_its_table() -> None:
    found = decided(index(allow({"user": "*"}), mask({"user": "ann"})), KNOWN, ANN, READER)
    assert [(one.column, one.effect, one.mask, one.principals) for one in found] == [
        ("", "allow", "", ("ann", "reader")),
        ("mail", "mask", "show-last-4", ("ann",)),
    ]
    assert found[1].tags == ("pii",)
    assert found[1].table == PEOPLE.path


def test_roles_that_no_policy_tells_apart_share_their_decisions() -> None:
    policies = index(allow({"user": "*"}), mask({"user": "r7"}))
    roles = [TargetRole(f"r{number}") for number in range(1_000)]
    assert sorted(len(group.roles) for group in groups_of(policies, principals_of(roles, {}, {}))) == [1, 999]
    assert len(decided(policies, KNOWN, *roles)) == 2


@pytest.mark.parametrize(("unknown", "effect"), [("closed", "deny"), ("open", "allow")])
def test_an_unknown_table_is_decided_by_the_tenants_setting(unknown: UnknownObjects, effect: str) -> None:
    found = decided(index(allow({"user": "ann"}, tag="pii")), {}, ANN, unknown=unknown)
    assert [(one.column, one.effect) for one in found] == [("", effect)]


def test_a_disabled_user_is_denied_what_a_setting_opens_to_others() -> None:
    """No policy names either of them, so nothing but the user's state tells them apart."""
    roles = [TargetRole("stranger"), ANN]
    disabled = {"ann": User("ann", disabled=True)}
    for order in (roles, roles[::-1]):
        groups = groups_of(index(), principals_of(order, {}, disabled))
        tables = named(Inventory((PEOPLE,), tuple(order)), "shop", ())
        found = decisions_for(tables, groups, Deciding(index(), "open", {}, Context()))
        assert {one.principals: one.effect for one in found} == {("ann",): "deny", ("stranger",): "allow"}


def test_of_several_assets_with_the_name_but_for_case_the_stricter_decision_holds() -> None:
    twice = KNOWN | {"db.public.people.mail": [facts("db.public.people.MAIL"), facts("db.public.people.mail", "pii")]}
    found = decided(index(allow({"user": "*"}), mask({"user": "*"})), twice, ANN)
    assert [(one.column, one.effect) for one in found] == [("", "allow"), ("mail", "mask")]


def test_names_are_those_of_the_engine_mapping() -> None:
    mapping = EngineMapping("m", "m", "shop", "DB.public", "shop")
    (found,) = named(Inventory((PEOPLE,), ()), "shop", [mapping])
    assert (found.name, found.columns) == ("shop.people", ("shop.people.id", "shop.people.mail"))


def test_the_digest_changes_with_what_the_target_has_to_do_and_not_with_tags() -> None:
    allowed, tagged = (decided(index(allow({"user": "*"})), known, ANN) for known in (KNOWN, _tagged(KNOWN)))
    assert digest(allowed) == digest(tagged)
    assert digest(allowed) != digest(decided(index(allow({"user": "*"}), mask({"user": "*"})), KNOWN, ANN))


def test_the_digest_changes_with_a_row_filter_and_with_whom_it_is_about() -> None:
    (stated,) = decided(index(allow({"user": "*"})), KNOWN, ANN)
    german = replace(stated, effect="row-filter", row_filters=("country = 'DE'",))
    variants = [
        german,
        replace(german, row_filters=("country = 'FR'",)),
        replace(german, principals=("bob",)),
        replace(german, kinds=("group",)),
        replace(german, effect="mask", mask="mask-to-fixed-value", mask_value=1),
        replace(german, effect="mask", mask="mask-to-fixed-value", mask_value=True),
    ]
    assert len({digest([one]) for one in variants}) == len(variants)


class TestIncompleteTables:
    """Tables of the catalogue, whose plain columns only the lake has."""

    @staticmethod
    def effects(policies: PolicyIndex, candidates: Mapping[str, Sequence[Facts]]) -> list[tuple[str, str]]:
        table = Named(PEOPLE, "db.public.people", ("db.public.people.id", "db.public.people.mail"), complete=False)
        groups = groups_of(policies, principals_of([ANN], {}, {}))
        deciding = Deciding(policies, "closed", candidates, Context(), {"ann": ("user",)})
        found = decisions_for([table], groups, deciding)
        assert {one.kinds for one in found} == {("user",)}
        return [(one.column, one.effect) for one in found]

    def test_the_tables_decision_holds_for_a_column_that_is_not_listed(self) -> None:
        masked = {**mask({"user": "*"}), "resources": [{"entity_type": "column"}]}
        assert self.effects(index(allow({"user": "*"}), masked), KNOWN) == [
            ("", "mask"),
            ("id", "allow"),
            ("mail", "allow"),
        ]

    def test_unknown_attributes_of_a_column_count_as_those_that_deny(self) -> None:
        known = {name: [Facts(name, name, attributes={"region": "eu"})] for name in KNOWN}
        denied = {**allow({"user": "*"}), "effect": "deny", "conditions": {"attributes": {"asset": {"region": "us"}}}}
        found = self.effects(index(allow({"user": "*"}), denied), known)
        assert found == [("", "deny"), ("id", "allow"), ("mail", "allow")]

    def test_a_column_that_is_not_listed_has_the_tags_of_its_table(self) -> None:
        known = {name: [Facts(name, name, tags=("pii",), attributes={"region": "eu"})] for name in KNOWN}
        denied = {**allow({"user": "*"}, tag="pii"), "effect": "deny"}
        denied["conditions"] = {"attributes": {"asset": {"region": "us"}}}
        assert self.effects(index(allow({"user": "*"}), denied), known)[0] == ("", "deny")

    def test_else_the_columns_share_the_tables_decision(self) -> None:
        assert self.effects(index(allow({"user": "*"}), mask({"user": "*"})), KNOWN) == [
            ("", "allow"),
            ("mail", "mask"),
        ]


def test_a_disabled_user_is_not_decided_with_one_that_no_policy_names() -> None:
    policies = index(allow({"user": "bob"}))
    off = principals_of([ANN], {}, {"ann": User("ann", disabled=True)})
    groups = groups_of(policies, principals_of([READER], {}, {}) | off)
    deciding = Deciding(policies, "open", {}, Context())
    found = decisions_for(named(Inventory((PEOPLE,), ()), "shop", ()), groups, deciding)
    assert {one.principals: one.effect for one in found} == {("ann",): "deny", ("reader",): "allow"}


class TestPrincipals:
    def test_a_role_that_logs_in_is_a_user_with_the_roles_above_it(self) -> None:
        found = principals_of([ANN, READER], {}, {"ann": User("Ann", roles=("hr",), groups=("eu",))})
        assert (found["ann"].user, found["ann"].groups, found["ann"].roles) == (
            "ann",
            ("eu", "reader"),
            ("hr", "reader"),
        )
        assert (found["reader"].user, found["reader"].groups) == ("", ("reader",))

    def test_a_mapping_says_what_a_role_is(self) -> None:
        mapped = {"READER": {"group": "bi-team"}, "ann": {"user": "ann@example.org"}}
        found = principals_of([ANN, READER], mapped, {})
        assert (found["ann"].user, found["ann"].groups, found["ann"].roles) == ("ann@example.org", ("bi-team",), ())
        assert user_names([ANN, READER], mapped) == {"ann@example.org"}

    def test_a_disabled_user_is_found_in_any_case(self) -> None:
        found = principals_of([TargetRole("ANN")], {}, {"ann": User("ann", disabled=True)})
        assert found["ANN"].disabled

    def test_one_that_cannot_be_restricted_is_left_out(self) -> None:
        assert principals_of([TargetRole("root", unrestricted="superuser")], {}, {}) == {}


def test_an_inherited_role_counts() -> None:
    stated = {**allow({"role": "reader"}), "name": "p", "actions": ["READ"]}
    policies = compile_policies(
        TENANT,
        [parse_policy(stated, tenant=TENANT, policy_id="p")],
        [parse_role({"name": "analyst", "inherits": ["reader"]})],
    )
    analyst = TargetRole("analyst", login=False)
    assert [one.effect for one in decided(policies, KNOWN, analyst)] == ["allow"]


def _tagged(known: Mapping[str, Sequence[Facts]]) -> dict[str, list[Facts]]:
    return {name: [facts(one.id, *one.tags, "plain") for one in listed] for name, listed in known.items()}
