"""Cedar decides the same questions alike: random policies, roles with inheritance, conditions."""

import pytest

from bench.cedar import Cedar
from bench.policy_world import Scale, policy_world
from lily.policy import compile_policies


@pytest.mark.parametrize("seed", range(5))
def test_cedar_agrees_with_every_decision(seed: int) -> None:
    """`python -m bench policies` compares 100,000 more."""
    world = policy_world(seed, Scale(policies=60, checks=2_000, users=100, tables=20))
    index = compile_policies("bench", world.policies, world.roles, world.users)
    ours = [decision.allowed for decision in index.decide_batch(world.checks)]
    cedar = Cedar(world)
    theirs = cedar.allowed(cedar.requests(world.checks))
    differing = [check for check, one, other in zip(world.checks, ours, theirs, strict=True) if one != other]
    assert differing == []
    assert 100 < sum(ours) < 1_900
