"""The chain behind a decision, and what a list leaves out."""

from typing import Any

from lily.model.ids import asset_id
from lily.policy import (
    AssetSet,
    Context,
    Facts,
    Policy,
    Principal,
    Role,
    User,
    Visibility,
    compile_policies,
)
from lily.policy.subjects import Directory
from tests.policy_examples import EMAIL, ORDERS, index, policy

ANN = Principal("ann")


def test_an_explanation_shows_the_way_through_groups_and_inherited_roles() -> None:
    compiled = compile_policies(
        "t",
        [policy("p", subjects=[{"role": "base"}], resources=[{"tag": "pii"}])],
        [Role("Staff", ("Base",), ("eng",))],
        [User("Ann", (), ("Eng",))],
    )
    explanation = compiled.explain(Principal("ann"), "READ", EMAIL)
    assert [match.as_dict() for match in explanation.matches] == [
        {
            "policy_id": "p",
            "name": "p",
            "effect": "allow",
            "priority": 0,
            "subject": {"role": "base"},
            "via": ["user ann", "group eng", "role Staff", "role base"],
            "resource": {"tag": "pii"},
            "matched": "its tag pii",
            "conditions": {},
            "applies": True,
            "decided": True,
        }
    ]


def found(resource: dict[str, str], facts: Facts = EMAIL) -> str:
    (match,) = index(policy("p", resources=[resource])).explain(ANN, "READ", facts).matches
    return match.resource_found


def test_an_explanation_names_what_of_the_asset_matched() -> None:
    assert found({"asset": EMAIL.id}) == "the asset itself"
    assert found({"asset": "SHOP.public.orders.EMAIL"}) == "the asset itself"
    assert found({"asset": "Shop"}) == "its ancestor shop"
    assert found({"asset": asset_id("t", "shop.public")}) == "its ancestor shop.public"
    assert found({"asset": "*"}) == "every asset"
    assert found({"tag": "*"}) == "its having a tag"
    assert found({"entity_type": "column"}) == "its entity type column"
    assert found({"data_source": "*"}) == "its data source warehouse"


def test_policies_whose_conditions_fail_are_listed_too() -> None:
    conditions = {"networks": ["10.0.0.0/8"], "purpose": ["audit"], "attributes": {"principal": {"team": "hr"}}}
    compiled = index(policy("no", "deny", conditions=conditions), policy("yes"))
    explanation = compiled.explain(ANN, "READ", ORDERS, Context(address="11.0.0.1", purpose="audit"))
    shown = {match.policy.id: (dict(match.conditions), match.applies, match.decided) for match in explanation.matches}
    outcomes = {"networks": "fails", "purpose": "holds", "attributes.principal": "unknown"}
    assert shown == {"no": (outcomes, False, False), "yes": ({}, True, True)}


def test_every_row_filter_has_decided_and_the_allow_below_them_has_not() -> None:
    filters = [policy(f"f{n}", "row-filter", row_filter=f"a = {n}") for n in range(2)]
    explanation = index(policy("yes"), *filters).explain(ANN, "READ", ORDERS)
    assert {match.policy.id: match.decided for match in explanation.matches} == {"yes": False, "f0": True, "f1": True}


def test_a_row_filter_that_does_not_apply_has_not_decided_even_if_another_has_the_same_text() -> None:
    twins = [
        policy("off", "row-filter", row_filter="a = 1", conditions={"purpose": ["audit"]}),
        policy("on", "row-filter", row_filter="a = 1"),
    ]
    explanation = index(policy("yes"), *twins).explain(ANN, "READ", ORDERS, Context(purpose="billing"))
    assert {match.policy.id: match.decided for match in explanation.matches} == {"yes": False, "off": False, "on": True}


def test_an_explanation_of_a_default_has_no_match() -> None:
    explanation = index().explain(ANN, "READ", ORDERS)
    assert explanation.matches == ()
    assert explanation.decision.reason == "no policy allows READ of its data"


def visibility(*policies: Policy, who: Principal = ANN, context: Context | None = None) -> Visibility:
    return index(*policies).visibility(who, context=context or Context())


def test_a_principal_whom_no_policy_denies_is_unrestricted() -> None:
    allowed = policy("yes")
    for_bob = policy("no", "deny", subjects=[{"user": "bob"}])
    on_data = policy("data", "deny", applies_to=["data"])
    writes = policy("writes", "deny", actions=["WRITE"])
    assert visibility(allowed, for_bob, on_data, writes).unrestricted
    assert not visibility(for_bob, who=Principal("Bob")).unrestricted


def test_what_is_hidden_comes_as_sets_of_folded_names() -> None:
    kinds: list[dict[str, Any]] = [
        {"asset": "Shop.Public"},
        {"asset": ORDERS.id},
        {"tag": "PII"},
        {"tag": "Größe"},
        {"entity_type": "Column"},
        {"data_source": "CRM"},
    ]
    assert visibility(policy("no", "deny", resources=kinds)).hidden == AssetSet(
        assets=frozenset({asset_id("t", "Shop.Public"), ORDERS.id}),
        names=frozenset({"shop.public"}),
        tags=frozenset({"pii", "grösse"}),
        entity_types=frozenset({"column"}),
        data_sources=frozenset({"crm"}),
        keys=frozenset(
            {
                f"i:{asset_id('t', 'Shop.Public')}",
                f"i:{ORDERS.id}",
                "n:shop.public",
                "t:pii",
                "t:grösse",
                "e:column",
                "s:crm",
            }
        ),
    )


def test_stars_are_flags() -> None:
    assert visibility(policy("no", "deny")).hidden.everything
    hidden = visibility(policy("no", "deny", resources=[{"tag": "*"}, {"data_source": "*"}])).hidden
    assert (hidden.any_tag, hidden.any_data_source, hidden.everything, hidden.tags) == (True, True, False, frozenset())


def test_conditions_of_the_context_are_decided_and_those_of_the_asset_are_left_to_the_rows() -> None:
    office = policy("office", "deny", resources=[{"tag": "a"}], conditions={"networks": ["10.0.0.0/8"]})
    domain = policy(
        "domain", "deny", resources=[{"tag": "b"}], conditions={"attributes": {"asset": {"domain": ["hr", "it"]}}}
    )
    outside = visibility(office, domain, context=Context(address="11.0.0.1"))
    assert outside.hidden == AssetSet()
    (residual,) = outside.residuals
    assert (residual.assets.tags, residual.attributes) == (frozenset({"b"}), {"domain": ("hr", "it")})
    assert [outside.hides(Facts("x", tags=["b"], attributes={"domain": value})) for value in ("hr", "x")] == [
        True,
        False,
    ]
    assert outside.hides(Facts("x", tags=["b"]))  # its attributes were not loaded
    assert visibility(office, context=Context()).hidden.tags == {"a"}  # unknown hides


def test_the_steps_to_a_role_are_shared_with_the_roles_that_inherit_from_it() -> None:
    """Written out for each of a chain of thousands of roles, they would take seconds and gigabytes."""
    chain = [Role(f"r{number}", (f"r{number + 1}",)) for number in range(50)]
    held = Directory(chain, []).subjects(Principal("ann", (), ["r0"]))
    ways = {one.key: one for one in held}
    assert ways["r:r50"].steps == ("user ann", *(f"role r{number}" for number in range(51)))
    assert ways["r:r50"].before is ways["r:r49"]
