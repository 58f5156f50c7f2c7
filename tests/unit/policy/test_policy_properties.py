"""Decisions on random worlds: against the oracle, against each other, and that nothing ever widens access."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lily.policy import (
    ACTIONS,
    PLANES,
    Action,
    Check,
    Context,
    Decision,
    Facts,
    Plane,
    PolicyIndex,
    Principal,
    compile_policies,
    parse_policy,
)
from tests import policy_strategies as random
from tests.policy_oracle import Verdict, World, verdict

WIDTH = {"deny": 0, "mask": 1, "row-filter": 1, "allow": 2}


def index(world: World) -> PolicyIndex:
    policies = [parse_policy(body, tenant=world.tenant, policy_id=key) for key, body in world.policies.items()]
    return compile_policies(world.tenant, policies, world.roles, world.users)


def as_verdict(decision: Decision) -> Verdict:
    mask = decision.mask.action if decision.mask else None
    return Verdict(decision.effect, decision.policy_id, mask, frozenset(f.sql for f in decision.row_filters))


def with_policies(world: World, policies: dict[str, dict[str, Any]]) -> World:
    return world._replace(policies=policies)


QUESTION = st.tuples(random.principals(), st.sampled_from(ACTIONS), random.assets(), random.contexts())
Question = tuple[Principal, Action, Facts, Context]


@given(random.worlds(), st.lists(QUESTION, min_size=1, max_size=5), st.sampled_from(PLANES))
@settings(max_examples=80)
def test_a_decision_is_what_a_loop_over_all_policies_finds(
    world: World, questions: list[Question], plane: Plane
) -> None:
    compiled = index(world)
    expected = [verdict(world, *question, plane) for question in questions]
    assert [as_verdict(compiled.decide(*question, plane)) for question in questions] == expected
    assert list(map(as_verdict, compiled.decide_batch([Check(*one) for one in questions], plane))) == expected


@given(random.worlds(), QUESTION, st.sampled_from(PLANES))
@settings(max_examples=60)
def test_an_explanation_names_every_policy_that_the_decision_rests_on(
    world: World, question: Question, plane: Plane
) -> None:
    compiled = index(world)
    explanation = compiled.explain(*question, plane)
    assert explanation.decision == compiled.decide(*question, plane)
    matching = {match.policy.id: match for match in explanation.matches}
    kept = with_policies(world, {key: world.policies[key] for key, match in matching.items() if match.applies})
    assert verdict(kept, *question, plane) == as_verdict(explanation.decision)
    decided = {key for key, match in matching.items() if match.decided}
    assert decided >= ({explanation.decision.policy_id} - {None})
    if decided:
        assert all(world.policies[key]["effect"] == "row-filter" for key in decided - {explanation.decision.policy_id})
    for match in matching.values():
        assert match.applies or any(outcome.outcome != "holds" for outcome in match.conditions)
        held = {one.key: one.steps for one in explanation.subjects}
        assert match.subject_steps == held[match.subject.key]


@given(random.worlds(), QUESTION)
@settings(max_examples=60)
def test_a_list_hides_exactly_what_the_metadata_plane_denies(world: World, question: Question) -> None:
    compiled = index(world)
    principal, action, facts, context = question
    visibility = compiled.visibility(principal, action, context)
    assert visibility.hides(facts) == (not compiled.decide(principal, action, facts, context, "metadata").allowed)
    assert not (visibility.unrestricted and visibility.hides(facts))


@given(random.worlds(), random.policy_bodies(("deny", "mask", "row-filter")), QUESTION, st.sampled_from(PLANES))
@settings(max_examples=60)
def test_one_more_deny_mask_or_row_filter_never_widens_access(
    world: World, added: dict[str, Any], question: Question, plane: Plane
) -> None:
    before = index(world).decide(*question, plane)
    after = index(with_policies(world, {**world.policies, "added": added})).decide(*question, plane)
    assert WIDTH[after.effect] <= WIDTH[before.effect]
    assert {f.sql for f in after.row_filters} >= {f.sql for f in before.row_filters} or not after.allowed


@given(random.worlds(), st.randoms(use_true_random=False), QUESTION, st.sampled_from(PLANES))
@settings(max_examples=60)
def test_one_allow_less_never_widens_access(world: World, choose: Any, question: Question, plane: Plane) -> None:
    allows = [key for key, body in world.policies.items() if body["effect"] == "allow"]
    gone = choose.choice(allows) if allows else ""
    fewer = with_policies(world, {key: body for key, body in world.policies.items() if key != gone})
    before, after = index(world).decide(*question, plane), index(fewer).decide(*question, plane)
    assert WIDTH[after.effect] <= WIDTH[before.effect]


@given(random.worlds(), QUESTION, st.sampled_from(PLANES))
@settings(max_examples=60)
def test_knowing_less_never_widens_access(world: World, question: Question, plane: Plane) -> None:
    principal, action, facts, context = question
    compiled = index(world)
    known = compiled.decide(*question, plane)
    stranger = Principal(principal.user, principal.groups, principal.roles)
    for less in (
        (principal, action, facts, Context(None, context.address, context.purpose)),
        (principal, action, facts, Context(context.now, None, context.purpose)),
        (principal, action, facts, Context(context.now, "not an address", context.purpose)),
        (principal, action, facts, Context(context.now, context.address, None)),
        (stranger, action, facts, context),
        (principal, action, unloaded(facts), context),
    ):
        assert WIDTH[compiled.decide(*less, plane).effect] <= WIDTH[known.effect]


@given(random.worlds(), QUESTION, st.sampled_from(PLANES))
@settings(max_examples=60)
def test_case_does_not_matter(world: World, question: Question, plane: Plane) -> None:
    principal, action, facts, context = question
    compiled = index(world)
    shouted = Principal(
        principal.user.upper(), map(str.upper, principal.groups), map(str.upper, principal.roles), principal.attributes
    )
    tags = [tag.upper() for tag in facts.tags]
    loud = Facts(
        facts.id,
        facts.qualified_name.upper(),
        facts.entity_type.upper(),
        facts.data_source.upper(),
        facts.ancestors,
        tags,
        facts.attributes,
    )
    assert compiled.decide(shouted, action, loud, context, plane) == compiled.decide(*question, plane)


def unloaded(facts: Facts) -> Facts:
    """The same asset, but its attributes were not loaded."""
    return Facts(
        facts.id, facts.qualified_name, facts.entity_type, facts.data_source, facts.ancestors, facts.tags, None
    )
